// `by_ajv.mjs BUNDLE FILE NODE_MODULES`: judge each frame with ajv, compiled for each method and for each type of event.
// Prints seconds (without starting up and compiling), frames, invalid.
import { createReadStream, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";

const [bundlePath, file, modules] = process.argv.slice(2);
const Ajv = createRequire(`${modules}/`)("ajv/dist/2020.js").default;
const bundle = JSON.parse(readFileSync(bundlePath, "utf8"));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(bundle);
const compile = (name) => ajv.compile({ $ref: `${bundle.$id}#/$defs/${name}` });

const params = new Map();
const results = new Map();
for (const method of bundle["x-methods"]) {
  if (method.params) params.set(method.name, compile(method.params));
  if (method.result) results.set(method.name, compile(method.result));
}
const events = new Map();
for (const { $ref } of bundle.$defs.SessionEvent.anyOf) {
  const name = $ref.split("/").at(-1);
  events.set(bundle.$defs[name].properties.type.const, compile(name));
}
const asked = new Map();

function isValid(frame) {
  const method = frame.method;
  if (method === undefined) {
    const judge = results.get(asked.get(frame.id));
    asked.delete(frame.id);
    return judge !== undefined && ("error" in frame || judge(frame.result));
  }
  if (method === "session.event") {
    const { sessionId, event } = frame.params;
    return typeof sessionId === "string" && (events.get(event.type) ?? events.get(undefined))(event);
  }
  if ("id" in frame) asked.set(frame.id, method);
  const judge = params.get(method);
  return judge === undefined || judge(frame.params);
}

let frames = 0;
let invalid = 0;
let rest = "";
const start = performance.now();
for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: 1 << 20 })) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { frame } = JSON.parse(line);
    if (frame === null) continue;
    frames += 1;
    if (!isValid(frame)) invalid += 1;
  }
}
console.log(JSON.stringify({ seconds: (performance.now() - start) / 1000, frames, invalid }));
