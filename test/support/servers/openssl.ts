import { execFileSync, spawnSync } from 'node:child_process'

const isThere = spawnSync('openssl', ['version']).status === 0

/** With `WEFT_TEST_ALL=1` no test may be skipped: a missing command is then a failure. */
export const opensslMissing = !isThere && process.env.WEFT_TEST_ALL !== '1'

if (opensslMissing) console.log('skipped: there is no openssl command')

/** Runs the command in a directory. Throws if it fails. */
export const openssl = (cwd: string, ...commandLine: readonly string[]): Buffer =>
  execFileSync('openssl', commandLine, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
