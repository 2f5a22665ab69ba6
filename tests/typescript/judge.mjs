// Judges a file of vectors by a schema bundle: node judge.mjs schema.json vectors.jsonl
// Prints one JSON object, the verdict of Ajv by the vector's id.

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";

const [schemaFile, vectorFile] = process.argv.slice(2);
const bundle = JSON.parse(readFileSync(schemaFile, "utf8"));
const ajv = new Ajv2020({ strict: false }); // the bundle's own annotations are no mistakes
ajv.addSchema(bundle);

const methods = new Map(bundle["x-methods"].map((row) => [row.name, row]));

function reference({ definition, method, side }) {
  const name = definition ?? (side === "frame" ? null : methods.get(method)[side]);
  const pointer = name === null ? "" : `/$defs/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return `${bundle.$id}#${encodeURI(pointer)}`;
}

const verdicts = {};
for (const line of readFileSync(vectorFile, "utf8").split("\n")) {
  if (line !== "") {
    const vector = JSON.parse(line);
    verdicts[vector.id] = ajv.getSchema(reference(vector))(vector.value);
  }
}
console.log(JSON.stringify(verdicts));
