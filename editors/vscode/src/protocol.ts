// The server's own messages, as docs/protocol.md describes them.

export type State = "starting" | "loading" | "ready" | "busy" | "disabled" | "error" | "off";

/** `specls/status`: what the server is doing. */
export interface Status {
  state: State;
  message: string;
  progress?: number | null;
  model?: string | null;
  draft?: string | null;
  uri?: string | null;
  /** Why nothing is completed in the document, or what failed. */
  reason?: string | null;
  /** What can be done about it. */
  remedy?: string | null;
}

/** What became of suggestions. Characters are UTF-16 code units. */
export interface Fate {
  shown: number;
  accepted: number;
  partlyAccepted: number;
  rejected: number;
  ignored: number;
  characters: number;
  charactersKept: number;
  /** Accepted too short a while ago to tell whether they're kept. */
  charactersPending: number;
}

/** The answer to `specls/stats`, as far as it's shown. */
export interface Stats {
  state: string;
  models: Record<string, unknown>;
  requests: Record<string, number>;
  decodedTokens: number;
  prefillTokensPerSecond?: number;
  excluded: Record<string, string>;
  lastCompletion: LastCompletion | null;
  suggestions?: { total: Partial<Fate>; byLanguage: Record<string, Partial<Fate>> };
  latency?: Partial<Record<"count" | "p50Ms" | "p95Ms" | "p99Ms", number>> | null;
}

export interface LastCompletion {
  origin: string;
  promptTokens: number;
  reusedTokens: number;
  generatedTokens: number;
  timeToFirstTokenMs: number;
  decodeTokensPerSecond: number;
  totalMs: number;
}

/** A piece of what the model is given. A marker's text is its name. */
export interface Part {
  kind: "marker" | "head" | "file" | "prefix" | "suffix" | "typed";
  text: string;
  tokens: number;
  path?: string;
}

/** The answer to `specls/context`. */
export interface ModelContext {
  parts: Part[];
  tokens: number;
  excluded: string | null;
}

/** One model of `specls/models`. */
export interface Model {
  id: string;
  name: string;
  kind: "target" | "draft";
  /** Unknown before somebody has measured it. */
  bytes: number | null;
  licence: string;
  present: boolean;
  current: boolean;
  drafts: string[];
}

export const STATUS = "specls/status";
export const STATS = "specls/stats";
export const CONTEXT = "specls/context";
export const MODELS = "specls/models";
export const DID_SHOW = "textDocument/didShowCompletion";
export const DID_ACCEPT_PART = "textDocument/didPartiallyAcceptCompletion";
export const DID_REJECT = "specls/didRejectCompletion";
export const DID_FOCUS = "textDocument/didFocus";
