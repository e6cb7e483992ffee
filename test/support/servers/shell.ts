import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { atEnd } from '../../../src/cli/bench/ending.ts'

/** Maximum milliseconds until commands print what a caller waits for. */
const printMs = 120_000

/**
 * Deletes a folder in a process of its own. The deletion of 100,000 installed files takes half a minute, and nothing waits
 * for it.
 */
export function removeLater(folder: string): void {
  spawn('rm', ['-rf', folder], { stdio: 'ignore', detached: true }).unref()
}

/** Runs commands in bash as a reader types them. Their environment has only the given variables of Weft. */
export class Shell {
  readonly #child: ChildProcess
  #out = ''

  private constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#out += text
      })
  }

  static start(commands: string, cwd: string, environment: Readonly<Record<string, string>> = {}): Shell {
    const own = Object.entries(process.env).filter(([name]) => !/^(WEFT|npm)_/i.test(name))
    const env = { ...Object.fromEntries(own), ...environment }
    // A group of its own, so that a signal also ends the child processes.
    const child = spawn('bash', ['-c', commands], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    // The group would continue after this process.
    atEnd(() => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL')
    })
    return new Shell(child)
  }

  /**
   * Resolves when they have ended.
   * @throws Error unless the exit code is 0
   */
  static async run(
    commands: string,
    cwd: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly out: string }> {
    const shell = Shell.start(`set -e\n${commands}`, cwd, environment)
    const [code] = (await once(shell.#child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`ended with ${code}: ${shell.#out}`)
    return { out: shell.#out }
  }

  /** The output so far. */
  get out(): string {
    return this.#out
  }

  /**
   * Resolves with the match when the output matches.
   * @throws Error if the commands end first, or print nothing that matches for two minutes
   */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no ${String(pattern)} in ${printMs / 1000} s: ${this.#out}`)),
        printMs,
      )
      const look = (): void => {
        const match = pattern.exec(this.#out)
        if (match === null) return
        clearTimeout(timer)
        resolve(match)
      }
      this.#child.stdout?.on('data', look)
      this.#child.once('close', () => {
        clearTimeout(timer)
        reject(new Error(`ended without ${String(pattern)}: ${this.#out}`))
      })
      look()
    })
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.pid === undefined) return
    const closed = once(this.#child, 'close')
    process.kill(-this.#child.pid, 'SIGTERM')
    await closed
  }
}
