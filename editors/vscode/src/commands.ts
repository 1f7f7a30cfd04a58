// The extension's commands.

import * as vscode from "vscode";
import { enableIn, isEnabled, isEnabledIn, set } from "./config";
import type { Documents } from "./documents";
import { showMenu } from "./menu";
import type { Models } from "./models";
import type { Server } from "./server";
import { setUp } from "./setup";
import type { Snooze } from "./snooze";
import type { Situation } from "./summary";

export interface Parts {
  context: vscode.ExtensionContext;
  log: vscode.LogOutputChannel;
  server: Server;
  models: Models;
  documents: Documents;
  snooze: Snooze;
  situation: () => Situation;
}

/** VS Code's own commands under our names, so that they're found with the others. */
const EDITOR_COMMANDS = {
  trigger: "editor.action.inlineSuggest.trigger",
  accept: "editor.action.inlineSuggest.commit",
  acceptWord: "editor.action.inlineSuggest.acceptNextWord",
  acceptLine: "editor.action.inlineSuggest.acceptNextLine",
  next: "editor.action.inlineSuggest.showNext",
  previous: "editor.action.inlineSuggest.showPrevious",
  dismiss: "editor.action.inlineSuggest.hide",
};

export function registerCommands(parts: Parts): vscode.Disposable[] {
  const register = (name: string, run: () => unknown) =>
    vscode.commands.registerCommand(`specls.${name}`, run);
  return [
    ...Object.entries(EDITOR_COMMANDS).map(([name, command]) =>
      register(name, () => vscode.commands.executeCommand(command)),
    ),
    ...Object.entries(ownCommands(parts)).map(([name, run]) => register(name, run)),
  ];
}

function ownCommands(parts: Parts): Record<string, () => unknown> {
  const { server, models, snooze, log } = parts;
  return {
    menu: () => showMenu(parts.situation()),
    toggle: () => set("enabled", !isEnabled()),
    toggleLanguage: () => toggleLanguage(),
    snooze: () => {
      if (snooze.isOn) snooze.end();
      else snooze.begin();
    },
    chooseModel: () => withServer(server, () => models.chooseTarget()),
    chooseDraft: () => withServer(server, () => models.chooseDraft()),
    showStatistics: () => withServer(server, (client) => parts.documents.showStatistics(client)),
    showContext: () => showContext(parts),
    showLog: () => {
      log.show();
    },
    openSettings: () =>
      vscode.commands.executeCommand("workbench.action.openSettings", "@ext:specls.specls"),
    restart: () => server.restart(),
    setUp: async () => {
      if (await setUp(parts.context, log)) await server.restart();
    },
    choosePath: () => choosePath(),
  };
}

async function toggleLanguage(): Promise<void> {
  const language = vscode.window.activeTextEditor?.document.languageId;
  if (language !== undefined) await enableIn(language, !isEnabledIn(language));
}

async function showContext(parts: Parts): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    void vscode.window.showInformationMessage("specls: open a file first.");
    return;
  }
  await withServer(parts.server, (client) => parts.documents.showContext(client, editor));
}

async function withServer(
  server: Server,
  run: (client: NonNullable<Server["client"]>) => Promise<void>,
): Promise<void> {
  const { client } = server;
  if (client === undefined) {
    void vscode.window.showInformationMessage("specls: the server doesn't run.");
    return;
  }
  try {
    await run(client);
  } catch (error) {
    void vscode.window.showErrorMessage(`specls: ${String(error)}`);
  }
}

async function choosePath(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({ title: "The program specls" });
  // The change of the setting starts it.
  if (chosen?.[0] !== undefined) await set("server.path", chosen[0].fsPath);
}
