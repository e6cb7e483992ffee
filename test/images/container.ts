import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { atEnd } from '../../src/cli/bench/ending.ts'
import type { ImageConfig } from './builder.ts'

/** A user that no image knows, as Kubernetes and OpenShift assign them. */
export const strangerId = 12_345

/** The mounts of the container. Its root is read-only, also `/tmp`. Only `/data` is writable. */
const enter = `
set -e
root=$1 data=$2; shift 2
mount --bind "$root" "$root"
mount --options remount,bind,ro "$root"
mount --types proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind "$data" "$root/data"
exec setpriv --no-new-privs chroot --userspec=${strangerId}:${strangerId} --groups= "$root" "$@"
`

const environmentOf = (image: ImageConfig, extra: Readonly<Record<string, string>>): string[] => [
  ...image.Env.filter((each) => !each.startsWith('NODE_EXTRA_CA_CERTS=')),
  ...Object.entries(extra).map(([name, value]) => `${name}=${value}`),
]

/**
 * Runs the command of an image as the first process of namespaces of mounts and processes, in the network of
 * this machine, with a read-only root.
 */
export class Container {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #inside: readonly string[]
  readonly #image: ImageConfig
  #log = ''

  constructor(root: string, data: string, image: ImageConfig, extra: Readonly<Record<string, string>>) {
    this.#image = image
    const env = environmentOf(image, extra)
    this.#inside = ['/usr/bin/env', '-i', '-C', image.WorkingDir, ...env]
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
    const command = [...namespaces, 'sh', '-c', enter, 'sh', root, data, ...this.#inside, ...image.Cmd]
    this.#child = spawn('unshare', command, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#ended = once(this.#child, 'close')
    atEnd(() => this.#child.kill('SIGKILL'))
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text
      })
  }

  get log(): string {
    return this.#log
  }

  /** The number of the first process of the container, as this machine sees it. */
  get #first(): number {
    const { pid } = this.#child
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
  }

  /** Runs a command in the container, as `docker exec` does. Returns its exit code. */
  execute(command: readonly string[]): { readonly code: number | null; readonly out: string } {
    const namespaces = ['--target', String(this.#first), '--mount', '--pid', '--root']
    const user = ['--setuid', String(strangerId), '--setgid', String(strangerId)]
    const { status, stdout, stderr } = spawnSync(
      'nsenter',
      [...namespaces, ...user, ...this.#inside, ...command],
      { encoding: 'utf8', timeout: 30_000 },
    )
    return { code: status, out: stdout + stderr }
  }

  /** Runs the health check of the image. Returns whether the container is healthy. */
  isHealthy(): boolean {
    const [kind, ...command] = this.#image.Healthcheck?.Test ?? []
    if (kind !== 'CMD') throw new Error('the image has no health check')
    return this.execute(command).code === 0
  }

  /** Sends SIGTERM to the first process. Returns the exit code and the duration of the stop in ms. */
  async stop(): Promise<{ readonly code: number | null; readonly ms: number }> {
    const began = performance.now()
    process.kill(this.#first, 'SIGTERM')
    await this.#ended
    return { code: this.#child.exitCode, ms: performance.now() - began }
  }
}
