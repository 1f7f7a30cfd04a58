// The lines of `specls models pull --json`.

import { inWords } from "./summary";

export interface Step {
  percent: number;
  message: string;
  /** Why the pull failed, in its last line. */
  failure?: string;
}

interface Line {
  done: number;
  total: number;
  state?: string;
  message?: string;
}

/** A line as progress, or undefined when it's something else. */
export function parseProgress(line: string): Step | undefined {
  const read = parse(line);
  if (read === undefined) return undefined;
  const { done, total, state } = read;
  const failure = state === "failed" ? { failure: read.message ?? "it failed" } : {};
  if (total <= 0) return { percent: 0, message: inWords(done), ...failure };
  const percent = Math.min(Math.floor((100 * done) / total), 100);
  const doing = state === "checking" ? "checking, " : "";
  return { percent, message: `${doing}${percent} % of ${inWords(total)}`, ...failure };
}

function parse(line: string): Line | undefined {
  try {
    const value = JSON.parse(line) as Partial<Line> | null;
    const isWhole = typeof value?.done === "number" && typeof value.total === "number";
    return isWhole ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}
