// Python environments: the selected one, those in the workspace, and the one of our own.

import { statSync } from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { own } from "./config";
import { locate, type Found } from "./locate";

const WINDOWS = process.platform === "win32";
const USUAL_NAMES = [".venv", "venv", "env"];

/** The part of the Python extension's interface that is used here. */
interface PythonExtension {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: {
      path: string;
    }): Promise<{ executable: { sysPrefix: string } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

export function ownEnvironment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, "environment");
}

export async function findServer(context: vscode.ExtensionContext): Promise<Found> {
  const places = {
    configured: own("server.path", ""),
    // A program that lies in a folder that isn't trusted isn't run.
    environments: vscode.workspace.isTrusted ? await environments() : [],
    searchPath: (process.env.PATH ?? "").split(path.delimiter).filter((each) => each !== ""),
    own: ownEnvironment(context),
    home: os.homedir(),
    windows: WINDOWS,
  };
  return locate(places, isFile);
}

export function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

async function environments(): Promise<string[]> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const selected = await Promise.all(folders.map((folder) => selectedIn(folder.uri)));
  const usual = folders.flatMap((folder) =>
    USUAL_NAMES.map((name) => path.join(folder.uri.fsPath, name)),
  );
  return [...selected.filter((each) => each !== undefined), ...usual];
}

async function selectedIn(folder: vscode.Uri): Promise<string | undefined> {
  const python = await pythonExtension();
  if (python === undefined) return undefined;
  const chosen = python.environments.getActiveEnvironmentPath(folder);
  return (await python.environments.resolveEnvironment(chosen))?.executable.sysPrefix;
}

async function pythonExtension(): Promise<PythonExtension | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  try {
    return await extension?.activate();
  } catch {
    return undefined; // It's broken, which its own messages say.
  }
}

/** Calls back when another Python environment is selected. */
export async function onSelect(then: () => void): Promise<vscode.Disposable | undefined> {
  return (await pythonExtension())?.environments.onDidChangeActiveEnvironmentPath(then);
}
