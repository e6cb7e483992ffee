import { execFileSync, spawnSync } from 'node:child_process'

const isThere = spawnSync('openssl', ['version']).status === 0

/**
 * True if tests that need the command must be skipped. With `WEFT_TEST_REQUIRED=1`, no test may be skipped, so a
 * missing command makes the tests fail.
 */
export const opensslMissing = !isThere && process.env.WEFT_TEST_REQUIRED !== '1'

if (opensslMissing) console.log('skipped: there is no openssl command')

/** Runs the `openssl` command in a directory, and returns its output. Throws if the command fails. */
export const openssl = (cwd: string, ...commandLine: readonly string[]): Buffer =>
  execFileSync('openssl', commandLine, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
