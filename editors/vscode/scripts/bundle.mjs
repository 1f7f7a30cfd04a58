// Bundle the extension into one file; with --tests, the unit tests as well.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const shared = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  logLevel: "warning",
};

/** The licences of the packages whose code is in the bundle, one behind the other. */
function licences({ inputs }) {
  const paths = Object.keys(inputs).map(
    (file) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0],
  );
  const packages = [...new Set(paths.filter(Boolean))].sort();
  const texts = packages.map((folder) => {
    const name = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (name === undefined) throw new Error(`${folder} has no licence`);
    return `${folder.slice("node_modules/".length)}\n\n${readFileSync(`${folder}/${name}`, "utf8")}`;
  });
  return texts.join(`\n\n${"-".repeat(72)}\n\n`);
}

if (process.argv.includes("--tests")) {
  rmSync("dist/test", { recursive: true, force: true });
  const entryPoints = readdirSync("test").map((name) => `test/${name}`);
  await build({ ...shared, entryPoints, outdir: "dist/test", sourcemap: "inline" });
} else {
  const { metafile } = await build({
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    minify: true,
    metafile: true,
  });
  writeFileSync("dist/licences.txt", licences(metafile));
}
