#!/usr/bin/env node
"use strict"
// The first file of the program: it says what is missing where the Node that runs it is too old to read the others.
// Plain CommonJS without an import, so that any Node can read it.
var needed = [22, 19]
var version = process.versions.node.split(".").map(Number)

if (version[0] < needed[0] || (version[0] === needed[0] && version[1] < needed[1])) {
  console.error(
    "Headwater needs Node " +
      needed.join(".") +
      " or newer, and this is Node " +
      process.versions.node +
      ".\n" +
      "In its own checkout, `npm start` runs it on the Node that it brings along (node_modules/.bin/node).\n" +
      "Elsewhere, npm brings one: npx -p node@24 -p @headwater/daemon headwater"
  )
  process.exit(1)
}

var fs = require("node:fs")
var path = require("node:path")

// What was compiled once need not be again: this halves the start. Threads look for the folder in the environment, where Node
// itself finds an operator's. The folder is the one that Node takes without a name.
var folder = path.join(require("node:os").tmpdir(), "node-compile-cache")
if (!process.env.NODE_COMPILE_CACHE && require("node:module").enableCompileCache(folder).directory !== undefined) {
  process.env.NODE_COMPILE_CACHE = folder
}

// A checkout runs its sources, which Node refuses to read below node_modules; a package holds what they were bundled to.
import(fs.existsSync(path.join(__dirname, "../src/main.ts")) ? "../src/main.ts" : "../program/main.js")
