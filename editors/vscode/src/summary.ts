// What the status bar says. Pure: texts from states.

import type { Stats, Status } from "./protocol";

/** What is known about the server, the newest of each. */
export interface Situation {
  /** The client's own view; "running" leaves it to `status`. */
  life: "idle" | "starting" | "running" | "waiting" | "crashed" | "missing" | "failed";
  status?: Status | undefined;
  stats?: Stats | undefined;
  /** Suggestions are off until this time, in words. */
  snoozedUntil?: string | undefined;
  enabled: boolean;
}

export interface Summary {
  icon: string;
  text: string;
  /** Lines of the tooltip: label and value, or a sentence. */
  lines: (string | [string, string])[];
  severity: "normal" | "warning" | "error";
  isQuiet: boolean;
}

const LIFE: Record<Exclude<Situation["life"], "running">, Omit<Summary, "isQuiet">> = {
  idle: {
    icon: "circle-outline",
    text: "",
    lines: ["Starts when you open a file."],
    severity: "normal",
  },
  starting: { icon: "loading~spin", text: "", lines: ["Starting."], severity: "normal" },
  waiting: {
    icon: "debug-restart",
    text: "",
    lines: ["The server ended; it's started again."],
    severity: "warning",
  },
  crashed: {
    icon: "error",
    text: "",
    lines: ["The server ended three times in a short time."],
    severity: "error",
  },
  missing: {
    icon: "warning",
    text: "not set up",
    lines: ["The server wasn't found."],
    severity: "warning",
  },
  failed: {
    icon: "error",
    text: "",
    lines: ["The server can't be started; the log says why."],
    severity: "error",
  },
};

const ICONS: Record<Status["state"], string> = {
  starting: "loading~spin",
  loading: "loading~spin",
  ready: "sparkle",
  busy: "sparkle-filled",
  disabled: "circle-slash",
  error: "error",
  off: "circle-slash",
};

const QUIET: ReadonlySet<Status["state"]> = new Set(["disabled", "off"]);

export function summary(situation: Situation): Summary {
  if (!situation.enabled) {
    const lines = ["Suggestions are turned off."];
    return { icon: "circle-slash", text: "", lines, severity: "normal", isQuiet: true };
  }
  if (situation.life !== "running") return { ...LIFE[situation.life], isQuiet: false };
  const status = situation.status ?? { state: "starting", message: "" };
  const until = situation.snoozedUntil;
  const lines = [
    ...reasons(status),
    ...models(status, situation.stats),
    ...numbers(situation.stats),
  ];
  return {
    icon: until === undefined ? ICONS[status.state] : "bell-slash",
    text: percent(status),
    lines: until === undefined ? lines : [`Suggestions are off until ${until}.`, ...lines],
    severity: status.state === "error" ? "error" : "normal",
    isQuiet: until !== undefined || QUIET.has(status.state),
  };
}

function percent({ state, progress }: Status): string {
  return state === "loading" && typeof progress === "number" ? `${progress} %` : "";
}

function reasons(status: Status): string[] {
  const said = [status.message, status.reason, status.remedy];
  return [...new Set(said.filter((each): each is string => Boolean(each)))];
}

function models(status: Status, stats: Stats | undefined): [string, string][] {
  const model = status.model ?? named(stats, "target");
  const draft = status.draft ?? named(stats, "draft");
  return rows([
    ["Model", model],
    ["Draft", draft],
  ]);
}

/** The name of what is loaded, as the numbers have it. */
export function named(stats: Stats | undefined, role: "target" | "draft"): string | undefined {
  const name = stats?.models[role];
  return typeof name === "string" ? name : undefined;
}

function numbers(stats: Stats | undefined): [string, string][] {
  const last = stats?.lastCompletion;
  const speed = last?.decodeTokensPerSecond;
  const total = stats?.suggestions?.total;
  const median = stats?.latency?.p50Ms;
  return rows([
    ["Speed", speed ? `${round(speed)} tokens/s` : undefined],
    ["Answers", median ? `in ${round(median)} ms (half of them)` : undefined],
    ["Accepted", accepted(total)],
  ]);
}

/** Accepted of shown ones, as people read it; nothing before any was shown. */
export function accepted(total: { shown?: number; accepted?: number } | undefined) {
  const { shown = 0, accepted: taken = 0 } = total ?? {};
  return shown > 0 ? `${taken} of ${shown} (${round((100 * taken) / shown)} %)` : undefined;
}

function rows(pairs: [string, string | null | undefined][]): [string, string][] {
  return pairs.filter((pair): pair is [string, string] => Boolean(pair[1]));
}

export function round(value: number): string {
  return value >= 10 ? Math.round(value).toString() : (Math.round(10 * value) / 10).toString();
}

/** Bytes as people read them. */
export function inWords(bytes: number | null): string {
  if (bytes === null) return "size unknown";
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
}
