// The lines of `specls models pull --json`.

import { inWords } from "./summary";

export interface Step {
  percent: number;
  message: string;
}

interface Line {
  id: string;
  done: number;
  total: number;
  state: string;
}

/** A line as progress, or undefined when it's something else. */
export function parseProgress(line: string): Step | undefined {
  const read = parse(line);
  if (read === undefined) return undefined;
  if (read.total <= 0) return { percent: 0, message: inWords(read.done) };
  const percent = Math.min(Math.floor((100 * read.done) / read.total), 100);
  return { percent, message: `${percent} % of ${inWords(read.total)}` };
}

function parse(line: string): Line | undefined {
  try {
    const value = JSON.parse(line) as Partial<Line> | null;
    const whole = typeof value?.done === "number" && typeof value.total === "number";
    return whole ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}
