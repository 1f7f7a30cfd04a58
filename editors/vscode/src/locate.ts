// Where the server is. Pure: what exists is asked of the caller.

import * as path from "node:path";

export interface Places {
  /** The setting `specls.server.path`. */
  configured: string;
  /** Folders of Python environments: the selected one, then those in the workspace. */
  environments: readonly string[];
  /** The folders of PATH. */
  searchPath: readonly string[];
  /** The environment that the extension made, if any. */
  own: string;
  home: string;
  windows: boolean;
}

export type Found =
  | { kind: "found"; path: string; origin: string }
  | { kind: "wrong"; path: string }
  | { kind: "none" };

/** The first place that has the server. A wrong setting is said, not passed over. */
export function locate(places: Places, isFile: (path: string) => boolean): Found {
  const configured = expand(places.configured.trim(), places.home);
  if (configured !== "") {
    return isFile(configured)
      ? { kind: "found", path: configured, origin: "the setting specls.server.path" }
      : { kind: "wrong", path: configured };
  }
  const hit = candidates(places).find(([file]) => isFile(file));
  return hit ? { kind: "found", path: hit[0], origin: hit[1] } : { kind: "none" };
}

function candidates(places: Places): [string, string][] {
  const program = places.windows ? "specls.exe" : "specls";
  const inside = (folder: string) => executableIn(folder, "specls", places.windows);
  return [
    ...places.environments.map((folder): [string, string] => [
      inside(folder),
      "a Python environment",
    ]),
    ...places.searchPath.map((folder): [string, string] => [path.join(folder, program), "PATH"]),
    [path.join(places.home, ".local", "bin", program), "~/.local/bin"],
    [inside(places.own), "the environment made by this extension"],
  ];
}

/** The path of a program in a Python environment. */
export function executableIn(environment: string, name: string, windows: boolean): string {
  return windows
    ? path.join(environment, "Scripts", `${name}.exe`)
    : path.join(environment, "bin", name);
}

function expand(file: string, home: string): string {
  return file === "~" || file.startsWith("~/") ? path.join(home, file.slice(1)) : file;
}
