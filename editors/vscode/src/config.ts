// VS Code's settings, as the extension and the server want them.

import * as vscode from "vscode";

const SECTION = "specls";
const OURS = /^(server|log|trace)\./;

function section(scope?: vscode.Uri): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION, scope);
}

/** A setting of the extension itself. */
export function own<T>(name: string, otherwise: T): T {
  return section().get<T>(name, otherwise);
}

/**
 * What a person has set of the server's settings, in a folder or for all.
 *
 * Defaults are left out: the server knows them, and a project's own file may say otherwise.
 */
export function serverSettings(
  extension: vscode.Extension<unknown>,
  folder?: string,
): Record<string, unknown> {
  const configuration = section(folder === undefined ? folder : vscode.Uri.parse(folder));
  const chosen = namesOf(extension).filter((name) => isSet(configuration, name));
  return Object.fromEntries(chosen.map((name) => [name, configuration.get(name)]));
}

function isSet(configuration: vscode.WorkspaceConfiguration, name: string): boolean {
  const found = configuration.inspect(name);
  const values = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue];
  return values.some((value) => value !== undefined);
}

interface Manifest {
  contributes: { configuration: { properties: Record<string, unknown> }[] };
}

/** The names of the server's settings, from the extension's own list of them. */
function namesOf(extension: vscode.Extension<unknown>): string[] {
  const { contributes } = extension.packageJSON as Manifest;
  return contributes.configuration
    .flatMap((group) => Object.keys(group.properties))
    .map((name) => name.slice(SECTION.length + 1))
    .filter((name) => !OURS.test(name));
}

export function isEnabled(): boolean {
  return own("enabled", true);
}

/** Whether suggestions are on in a language, as the setting `enable` says. */
export function isEnabledIn(language: string): boolean {
  const switches = own<Record<string, boolean>>("enable", {});
  return switches[language] ?? switches["*"] ?? true;
}

/** Set a value where it's set already, else for the user. */
export async function set(name: string, value: unknown): Promise<void> {
  const found = section().inspect(name);
  const target =
    found?.workspaceFolderValue === undefined && found?.workspaceValue === undefined
      ? vscode.ConfigurationTarget.Global
      : vscode.ConfigurationTarget.Workspace;
  await section().update(name, value, target);
}

export async function enableIn(language: string, on: boolean): Promise<void> {
  await set("enable", { ...own<Record<string, boolean>>("enable", {}), [language]: on });
}

/** Calls back when a setting changes; with an empty name, any of them. */
export function onChange(name: string, then: () => void): vscode.Disposable {
  const key = name === "" ? SECTION : `${SECTION}.${name}`;
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(key)) then();
  });
}
