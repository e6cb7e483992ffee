import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { writeBaseImage } from './base-image.ts'

/** The image as its builder describes it. Times are in nanoseconds. */
export interface ImageConfig {
  readonly User: string
  readonly WorkingDir: string
  readonly Env: readonly string[]
  readonly Cmd: readonly string[]
  readonly Volumes: Readonly<Record<string, unknown>>
  readonly ExposedPorts: Readonly<Record<string, unknown>>
  readonly Labels: Readonly<Record<string, string>>
  readonly Healthcheck?: {
    readonly Test: readonly string[]
    readonly StartPeriod: number
    readonly Interval: number
    readonly Timeout: number
  }
}

/** Returns why this machine cannot build an image, or null if it can. */
export function builderMissing(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs Linux and root'
  for (const [program, args] of [
    ['buildah', ['--version']],
    ['dpkg', ['--version']],
    ['unshare', ['--version']],
    ['setpriv', ['--version']],
  ] as const)
    if (spawnSync(program, args).status !== 0) return `${program} is not installed`
  return null
}

/** Builds images with buildah, in a folder of its own. No container engine and no daemon is necessary. */
export class Builder {
  readonly #folder: string
  readonly #storage: readonly string[]

  constructor(folder: string) {
    this.#folder = folder
    const storage = (driver: string): string[] => [
      '--root',
      join(folder, `${driver}-images`),
      '--runroot',
      join(folder, `${driver}-run`),
      '--storage-driver',
      driver,
    ]
    // The driver `overlay` is much faster, but does not work in every container.
    const canOverlay = spawnSync('buildah', [...storage('overlay'), 'from', 'scratch']).status === 0
    this.#storage = storage(canOverlay ? 'overlay' : 'vfs')
  }

  #run(args: readonly string[]): string {
    return execFileSync('buildah', [...this.#storage, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    }).trim()
  }

  /** Creates the image under whose name the Dockerfile looks for its base. */
  makeBaseImage(): void {
    const root = join(this.#folder, 'base')
    mkdirSync(root)
    writeBaseImage(root)
    const certificates = process.env.NODE_EXTRA_CA_CERTS
    const env = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']
    if (certificates !== undefined && existsSync(certificates)) {
      cpSync(realpathSync(certificates), join(root, 'etc/ssl/certs/extra.pem'))
      env.push('NODE_EXTRA_CA_CERTS=/etc/ssl/certs/extra.pem')
    }
    const container = this.#run(['from', 'scratch'])
    this.#run(['add', '--quiet', container, root, '/'])
    this.#run(['config', ...env.flatMap((each) => ['--env', each]), '--cmd', 'node', container])
    this.#run(['commit', '--quiet', container, 'docker.io/library/node:24-slim'])
    this.#run(['rm', container])
  }

  /** Builds the Dockerfile of a folder. @throws Error with the output of the builder */
  build(folder: string, name: string, buildArguments: Readonly<Record<string, string>>): void {
    const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
    mkdirSync(cache, { recursive: true })
    const args = Object.entries(buildArguments).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`])
    // OCI images have no health check, those of Docker do.
    const format = ['--format', 'docker', '--isolation', 'chroot']
    this.#run(['bud', ...format, '--volume', `${cache}:/root/.npm`, ...args, '--tag', name, folder])
  }

  /** Returns the configuration of an image. */
  inspect(name: string): ImageConfig {
    const { Docker } = JSON.parse(this.#run(['inspect', '--type', 'image', name])) as {
      Docker: { config: ImageConfig }
    }
    return Docker.config
  }

  /** Creates a container of an image. Returns the folder of its root file system. */
  mount(name: string): string {
    return this.#run(['mount', this.#run(['from', '--pull-never', name])])
  }

  /** Unmounts and deletes everything. */
  remove(): void {
    this.#run(['rm', '--all'])
    this.#run(['rmi', '--all', '--force'])
  }
}
