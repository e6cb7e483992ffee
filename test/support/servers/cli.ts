import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { builtFile } from '../../../src/core/base/package-file.ts'
import { requireTestBuild } from './test-build.ts'

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  /** Returns the output so far. */
  out(): string
  /**
   * Resolves with the match as soon as the output matches `pattern`. Rejects if the process ends before that.
   */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  readonly ended: Promise<Ran>
}

/**
 * Starts the built command line in a separate process in `cwd`. The process has only the `WEFT_*` variables
 * in `environment`.
 */
export function startCli(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
  output: 'pipe' | 'terminal' = 'pipe',
): Running {
  requireTestBuild()
  const command = [process.execPath, fileURLToPath(builtFile('main.js')), ...args]
  // `script` (util-linux) runs a command in a pseudo terminal. With `exec`, signals reach the command itself.
  const [program = '', ...given] =
    output === 'pipe' ? command : ['script', '-qec', `exec ${command.join(' ')}`, '/dev/null']
  const child = spawn(program, given, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }))
  })
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(out)
        if (match !== null) resolve(match)
      }
      child.stdout.on('data', look)
      child.once('close', () => reject(new Error(`ended without ${String(pattern)}: ${out}${err}`)))
      look()
    })
  return { child, out: () => out, printed, ended }
}

export const runCli = (
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> => startCli(args, cwd, environment).ended
