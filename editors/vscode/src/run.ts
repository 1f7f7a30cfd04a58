// Runs a program to its end, line by line.

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { CancellationToken } from "vscode";

const KEPT_LINES = 20;
const WINDOWS = process.platform === "win32";

export class Failed extends Error {}

export class Stopped extends Error {
  constructor() {
    super("cancelled");
  }
}

export interface Options {
  token?: CancellationToken;
  onLine?: (line: string) => void;
  environment?: Record<string, string>;
}

/**
 * Run a program. Its lines of stdout and stderr go to `onLine`.
 *
 * Throws Stopped when `token` is cancelled: the program and all that it started are ended. Throws
 * Failed with the last line it wrote when it exits with another code than 0.
 */
export async function run(program: string, args: string[], options: Options = {}): Promise<void> {
  const child = spawn(program, args, {
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
    detached: !WINDOWS, // A group of its own, so that a compiler ends with it.
    windowsHide: true,
  });
  const last: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on("line", (line) => {
      options.onLine?.(line);
      if (line.trim() !== "") last.push(line.trim());
      last.splice(0, last.length - KEPT_LINES);
    });
  }
  const stopping = options.token?.onCancellationRequested(() => {
    end(child);
  });
  try {
    const code = await ending(child);
    if (options.token?.isCancellationRequested) throw new Stopped();
    if (code !== 0) throw new Failed(last.at(-1) ?? `${program} ended with code ${code ?? "?"}`);
  } finally {
    stopping?.dispose();
  }
}

function ending(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on("error", (error) => {
      reject(new Failed(error.message));
    });
    child.on("close", resolve);
  });
}

function end(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (WINDOWS) spawn("taskkill", ["/pid", child.pid.toString(), "/t", "/f"], { windowsHide: true });
  else process.kill(-child.pid, "SIGINT");
}
