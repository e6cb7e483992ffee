#!/usr/bin/env node
import { nodeProblem } from './core/config/node-version.ts'

// All other modules are imported after this check, because an old version of Node could not parse them.
const problem = nodeProblem(process.versions.node)
if (problem === null) {
  const { runCommandLine } = await import('./cli/program.ts')
  await runCommandLine()
} else {
  process.stderr.write(`weft: ${problem}\n`)
  process.exitCode = 2
}
