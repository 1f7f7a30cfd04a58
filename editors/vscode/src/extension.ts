// Puts the parts together.

import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { DOCUMENTS, tellSettings } from "./client";
import { isEnabled, onChange } from "./config";
import { Documents } from "./documents";
import { onSelect } from "./environments";
import { Messages } from "./messages";
import { Models } from "./models";
import { DID_FOCUS, STATS, type Stats } from "./protocol";
import { Server } from "./server";
import { Snooze } from "./snooze";
import { StatusBar } from "./statusBar";
import type { Situation } from "./summary";

const STATS_DELAY_MS = 1000;
/** The library tells of an opened document a little later than the editor is there. */
const FOCUS_DELAY_MS = 200;
/** A change of these needs another process; the server follows all others by itself. */
const NEED_RESTART = ["server.path", "server.environment", "log.level"];

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("specls", { log: true });
  const extension = new Extension(context, log);
  server = extension.server;
  context.subscriptions.push(log, ...extension.subscriptions());
  extension.startIfWanted();
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

class Extension {
  readonly server: Server;
  private readonly models: Models;
  private readonly messages: Messages;
  private readonly documents = new Documents();
  private readonly statusBar = new StatusBar();
  private readonly snooze = new Snooze(() => {
    this.show({});
  });
  private situation: Situation = { life: "idle", enabled: isEnabled() };
  private statsTimer: NodeJS.Timeout | undefined;
  private focusTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.server = new Server(context, log, this.watcher());
    this.server.isSnoozed = () => this.snooze.isOn;
    this.models = new Models(this.server, log);
    this.messages = new Messages(log, this.models);
    this.show({});
  }

  subscriptions(): { dispose(): unknown }[] {
    void onSelect(() => {
      if (this.situation.life === "missing") this.startIfWanted();
    }).then((selecting) => selecting && this.context.subscriptions.push(selecting));
    const { documents, statusBar, snooze } = this;
    return [
      {
        dispose: () => {
          [documents, statusBar, snooze].forEach((each) => {
            each.dispose();
          });
        },
      },
      ...registerCommands({
        server: this.server,
        context: this.context,
        log: this.log,
        models: this.models,
        documents: this.documents,
        snooze: this.snooze,
        situation: () => this.situation,
      }),
      ...NEED_RESTART.map((name) => onChange(name, () => void this.server.restart())),
      onChange("", () => {
        this.show({ enabled: isEnabled() });
        if (this.server.client?.isRunning()) tellSettings(this.server.client);
        // VS Code may have opened the file of settings to write it; nobody looks at that.
        this.focusSoon();
        this.startIfWanted();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => {
        this.startIfWanted();
        this.focusSoon();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        this.startIfWanted();
      }),
    ];
  }

  /** Models take memory: nothing is started before there's something to complete. */
  startIfWanted(): void {
    const { life } = this.situation;
    const editors = vscode.window.visibleTextEditors;
    const isWanted = editors.some(
      ({ document }) => vscode.languages.match(DOCUMENTS, document) > 0,
    );
    if (isEnabled() && isWanted && (life === "idle" || life === "missing"))
      void this.server.start();
  }

  private watcher(): ConstructorParameters<typeof Server>[2] {
    return {
      starting: () => {
        this.show({ life: "starting", status: undefined, stats: undefined });
      },
      started: () => {
        this.show({ life: "running" });
        this.focusSoon();
        this.fetchStatsSoon();
      },
      stopped: () => {
        this.show({ life: "idle", status: undefined });
      },
      crashed: (again) => {
        this.show({ life: again === undefined ? "crashed" : "waiting", status: undefined });
        if (again === undefined) void this.messages.serverCrashed();
      },
      missing: (wrong) => {
        this.show({ life: "missing" });
        void this.messages.serverMissing(wrong);
      },
      failed: (reason) => {
        this.show({ life: "failed" });
        void this.messages.serverFailed(reason);
      },
      message: (params) => void this.messages.fromServer(this.server.client, params),
      answered: () => {
        this.fetchStatsSoon();
      },
      status: (status) => {
        this.show({ status });
        if (status.state === "ready") this.messages.forget();
        if (status.state === "error") {
          const reason = status.reason ?? status.message;
          void this.messages.problem(this.server.client, reason);
        }
        if (status.state !== "loading") this.fetchStatsSoon();
      },
    };
  }

  private show(change: Partial<Situation>): void {
    this.situation = { ...this.situation, ...change, snoozedUntil: this.snooze.words };
    this.statusBar.show(this.situation);
  }

  private focusSoon(): void {
    clearTimeout(this.focusTimer);
    this.focusTimer = setTimeout(() => {
      this.focus(vscode.window.activeTextEditor);
    }, FOCUS_DELAY_MS);
  }

  private focus(editor: vscode.TextEditor | undefined): void {
    const { client } = this.server;
    if (!client?.isRunning()) return;
    const isOurs = editor !== undefined && vscode.languages.match(DOCUMENTS, editor.document) > 0;
    const params = isOurs
      ? { textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document) }
      : {};
    void client.sendNotification(DID_FOCUS, params).catch(() => undefined);
  }

  /** Not at each key: the numbers are read by people. */
  private fetchStatsSoon(): void {
    this.statsTimer ??= setTimeout(() => {
      this.statsTimer = undefined;
      void this.fetchStats();
    }, STATS_DELAY_MS);
  }

  private async fetchStats(): Promise<void> {
    const { client } = this.server;
    const stats = await client?.sendRequest<Stats>(STATS, {}).catch(() => undefined);
    if (stats !== undefined && client === this.server.client) this.show({ stats });
  }
}
