// The life of the server process: found, started, watched, started again.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { Backoff } from "./backoff";
import { createClient, DOCUMENTS, type Listener } from "./client";
import { own } from "./config";
import { findServer } from "./environments";
import { InlineProvider } from "./provider";

const STOP_MS = 5000;

/** What the others are told. */
export interface Watcher extends Pick<Listener, "status" | "message"> {
  starting(): void;
  started(client: LanguageClient): void;
  stopped(): void;
  /** The server ended unasked, and is started again in so many milliseconds, or not at all. */
  crashed(again: number | undefined): void;
  missing(wrong: string | undefined): void;
  /** It was found, and doesn't start. */
  failed(reason: string): void;
  answered(): void;
}

/** At most one server. Starts and stops follow one another, however they're asked for. */
export class Server {
  client: LanguageClient | undefined;
  /** Where the running server's program is. */
  program = "";
  isSnoozed: () => boolean = () => false;

  private process: ChildProcess | undefined;
  private provider: vscode.Disposable | undefined;
  private timer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  private readonly backoff = new Backoff();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly watcher: Watcher,
  ) {}

  start(): Promise<void> {
    return this.next(() => this.startNow());
  }

  stop(): Promise<void> {
    return this.next(() => this.stopNow());
  }

  /** A person asks for it: earlier crashes don't count. */
  restart(): Promise<void> {
    this.backoff.forget();
    return this.next(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  /** Have the server try again to load its models. */
  async reload(): Promise<void> {
    const reload = { command: "specls.reload", arguments: [] };
    await this.client?.sendRequest("workspace/executeCommand", reload).catch(() => this.restart());
  }

  private next(step: () => Promise<void>): Promise<void> {
    this.work = this.work.then(step).catch((error: unknown) => {
      this.log.error(String(error));
      this.watcher.failed(String(error));
    });
    return this.work;
  }

  private async startNow(): Promise<void> {
    clearTimeout(this.timer);
    if (this.client !== undefined) return;
    this.watcher.starting();
    const found = await findServer(this.context);
    if (found.kind !== "found") {
      this.watcher.missing(found.kind === "wrong" ? found.path : undefined);
      return;
    }
    this.log.info(`Starting ${found.path} (${found.origin}).`);
    this.program = found.path;
    const process = await this.spawn(found.path);
    await this.connect(process);
  }

  private async spawn(program: string): Promise<ChildProcess> {
    const child = spawn(program, ["serve", "--stdio", "--log-level", own("log.level", "warning")], {
      cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
      env: { ...process.env, ...own<Record<string, string>>("server.environment", {}) },
      windowsHide: true,
    });
    await once(child, "spawn");
    return child;
  }

  private async connect(process: ChildProcess): Promise<void> {
    const client = createClient(this.context.extension, process, this.log, {
      status: (status) => {
        this.watcher.status(status);
      },
      message: (message) => {
        this.watcher.message(message);
      },
      closed: () => {
        this.lost(client);
      },
    });
    this.client = client;
    this.process = process;
    await client.start().catch((error: unknown) => {
      // When the server has ended meanwhile, `lost` has told of it.
      if (this.client === client) throw error;
    });
    if (this.client !== client) return;
    this.provide(client);
    this.watcher.started(client);
  }

  private provide(client: LanguageClient): void {
    const provider = new InlineProvider(
      client,
      () => this.isSnoozed(),
      () => {
        this.watcher.answered();
      },
    );
    this.provider = vscode.languages.registerInlineCompletionItemProvider(DOCUMENTS, provider);
  }

  private lost(client: LanguageClient): void {
    if (this.client !== client) return;
    this.forget();
    const again = this.backoff.crashed(Date.now());
    this.watcher.crashed(again);
    if (again !== undefined) this.timer = setTimeout(() => void this.start(), again);
  }

  private async stopNow(): Promise<void> {
    clearTimeout(this.timer);
    const { client, process } = this;
    if (client === undefined) return;
    this.forget();
    await client.stop(STOP_MS).catch(() => undefined);
    process?.kill();
    this.watcher.stopped();
  }

  private forget(): void {
    this.provider?.dispose();
    this.provider = this.client = this.process = undefined;
  }
}
