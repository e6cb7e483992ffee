import { execFileSync } from 'node:child_process'

/** Runs the `openssl` command in a directory, and returns its output. Throws if the command fails. */
export const openssl = (cwd: string, ...commandLine: readonly string[]): Buffer =>
  execFileSync('openssl', commandLine, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
