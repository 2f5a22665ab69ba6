export interface TextBlock {
  type: "text";
  text: string;
}
export interface Reasoning<Kind extends string = "reasoning"> {
  type: Kind;
  text?: string;
}
export interface BlockMap {
  text: TextBlock;
  reasoning: Reasoning;
  video: { type: "video"; url: string };
}
