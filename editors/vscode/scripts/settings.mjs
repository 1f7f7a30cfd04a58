// Put the server's settings into package.json, as it lists them itself:
//   specls settings --format vscode | node scripts/settings.mjs
import { readFileSync, writeFileSync } from "node:fs";

const properties = JSON.parse(readFileSync(0, "utf8"));
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
manifest.contributes.configuration.find(({ title }) => title === "Suggestions").properties =
  properties;
writeFileSync("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
