/* Hand-written types of the protocol, as someone else might write them. */
import type { TextBlock, BlockMap } from "their-blocks";
import type * as shared from "./shared.js";

export type { TextBlock } from "their-blocks";
export * from "./shared.js";

type Id<Brand extends string> = string & { readonly __brand: Brand };
type SessionId = Id<"session">;

export type ContentBlock = BlockMap[keyof BlockMap];

interface Addressed {
  readonly sessionId: SessionId;
}

export interface SessionPromptParams extends Addressed {
  contentBlocks: readonly ContentBlock[];
}

export type SessionPromptResult = Readonly<{ messageId: string | null }>;

export interface SessionStatusNotification extends Addressed {
  status: "idle" | "running" | "paused";
}

export type ToolSchema = Pick<shared.Wide, "name" | "description"> & { parameters: Record<string, unknown> };

export type SubagentStopReason = "completed" | "aborted" | (string & {});

export interface FooRequestMap {
  "session/prompt": { params: SessionPromptParams; result: SessionPromptResult };
  "session/wait": { params: Addressed; result: Record<string, never> };
  shutdown: { params: undefined; result: {} };
}

export interface FooNotificationMap {
  "session.status": SessionStatusNotification;
}
