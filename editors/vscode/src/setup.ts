// Sets the server up in a Python environment of the extension's own.

import { existsSync, readdirSync, rmSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { own } from "./config";
import { ownEnvironment } from "./environments";
import { executableIn } from "./locate";
import { Failed, run, Stopped } from "./run";

const WINDOWS = process.platform === "win32";
const PYTHONS = [
  "python3",
  "python3.14",
  "python3.13",
  "python3.12",
  "python3.11",
  "python3.10",
  "python",
];
const IS_USABLE = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/** Whether it's there in the end. Says by itself what went wrong. */
export async function setUp(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<boolean> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: "Setting up specls",
    cancellable: true,
  };
  try {
    await vscode.window.withProgress(options, (progress, token) =>
      install(context, log, progress, token),
    );
    return true;
  } catch (error) {
    rmSync(ownEnvironment(context), { recursive: true, force: true });
    if (!(error instanceof Stopped)) await complain(error, log);
    return false;
  }
}

async function install(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  progress: vscode.Progress<{ message: string }>,
  token: vscode.CancellationToken,
): Promise<void> {
  const options = {
    token,
    onLine: (line: string) => {
      log.info(line);
    },
  };
  const source = sourceOf(context);
  progress.report({ message: "looking for Python" });
  const python = await findPython(token);
  const folder = ownEnvironment(context);
  progress.report({ message: "making a Python environment" });
  await run(python, ["-m", "venv", "--clear", folder], options);
  progress.report({ message: "installing (it compiles llama.cpp, which takes 4 to 12 minutes)" });
  const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", source];
  await run(executableIn(folder, "python", WINDOWS), pip, options);
}

/** What pip installs: the setting, or the wheel inside the extension. */
function sourceOf(context: vscode.ExtensionContext): string {
  const configured = own("server.source", "").trim();
  if (configured !== "") return configured;
  const folder = context.asAbsolutePath("server");
  const wheel = existsSync(folder)
    ? readdirSync(folder).find((name) => name.endsWith(".whl"))
    : undefined;
  if (wheel === undefined) {
    throw new Failed(
      "This build of the extension has no server inside. Set specls.server.source to what pip " +
        "should install (a folder, a wheel or a git URL), or specls.server.path to the program.",
    );
  }
  return path.join(folder, wheel);
}

async function findPython(token: vscode.CancellationToken): Promise<string> {
  const configured = own("server.python", "").trim();
  for (const python of configured === "" ? PYTHONS : [configured]) {
    if (await isUsable(python, token)) return python;
  }
  const which = configured === "" ? "No Python" : `${configured} is no Python that`;
  throw new Failed(
    `${which} of version 3.10 or newer with venv${configured === "" ? " was found" : ""}. ` +
      "Install one (on Debian and Ubuntu: python3-venv), or name it in specls.server.python.",
  );
}

async function isUsable(python: string, token: vscode.CancellationToken): Promise<boolean> {
  try {
    await run(python, ["-c", IS_USABLE], { token });
    return true;
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return false;
  }
}

async function complain(error: unknown, log: vscode.LogOutputChannel): Promise<void> {
  const text = error instanceof Error ? error.message : String(error);
  log.error(text);
  const show = "Show Log";
  const chosen = await vscode.window.showErrorMessage(`specls couldn't be set up: ${text}`, show);
  if (chosen === show) log.show();
}
