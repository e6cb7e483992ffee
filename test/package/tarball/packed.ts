import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { buildPackage } from '../../../src/build/build.ts'
import { buildFolders } from '../../../src/build/build-folders.ts'
import { programs } from '../../../src/build/bundles.ts'
import { clientPackages } from '../../../src/build/client-packages.ts'
import { builtFile, packageFile } from '../../../src/core/base/package-file.ts'
import { inheritedEnvironment } from '../../support/servers/environment.ts'

const execute = promisify(execFile)
const root = fileURLToPath(packageFile('.'))

/** The folder of the server that is packed. */
export const stage = join(root, 'node_modules/.cache/weft-tarball')

/** Result of `npm pack --json`. */
interface Packed {
  readonly name: string
  readonly filename: string
  /** Bytes of the tarball, and of its files. */
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

/** The package as users get it. */
export interface InstalledPackage {
  /** A folder outside of the repository, into which npm has installed the tarball and other packages. */
  readonly folder: string
  /** The installed package in it. */
  readonly packageFolder: string
  readonly manifest: {
    readonly version: string
    readonly exports: Readonly<Record<string, string | object>>
  }
  readonly packed: Packed
  readonly tarball: Uint8Array
}

/** Packages that the programs and the types of the tests need, with the versions of the repository. */
const otherPackages = [
  '@types/node',
  '@types/react',
  '@types/react-dom',
  'express',
  'fastify',
  'prosemirror-state',
  'prosemirror-view',
  'react',
  'react-dom',
  'ws',
  'y-indexeddb',
  'y-websocket',
]

/** Environment without the settings of the npm that runs the tests. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(inheritedEnvironment()).filter(([name]) => !/^npm_/i.test(name)))

/**
 * Packs the build for tests, and installs the tarball like a user.
 * @returns the reason if npm is missing or cannot reach its registry
 */
export async function installPackage(): Promise<InstalledPackage | { readonly missing: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-tarball-'))
  await buildPackage(buildFolders.test)
  await stageServer()
  const [packed] = (await pack([stage], folder)) as [Packed]
  const missing = await install(folder, { 'weft-server': packed }, otherPackages)
  if (missing !== null) return { missing }
  const packageFolder = join(folder, 'node_modules/weft-server')
  return {
    folder,
    packageFolder,
    manifest: JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')),
    packed,
    tarball: await readFile(join(folder, packed.filename)),
  }
}

/** The packages for pages as users get them, without the server. */
export interface InstalledClientPackages {
  /** A folder outside of the repository, into which npm has installed the tarballs and other packages. */
  readonly folder: string
  /** Results of `npm pack` by the names of the packages. */
  readonly packed: Readonly<Record<string, Packed>>
}

/**
 * Packs the packages for pages, and installs their tarballs like a user.
 * @param others names of other packages, with the versions of the repository
 * @returns the reason if npm is missing or cannot reach its registry
 */
export async function installClientPackages(
  others: readonly string[],
): Promise<InstalledClientPackages | { readonly missing: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-packages-'))
  await buildPackage(buildFolders.test)
  const entries = Object.keys(clientPackages)
  const files = await pack(
    entries.map((entry) => fileURLToPath(builtFile(`packages/${entry}`))),
    folder,
  )
  const packed = Object.fromEntries(files.map((file) => [file.name, file]))
  const missing = await install(folder, packed, others)
  return missing === null ? { folder, packed } : { missing }
}

/**
 * Installs tarballs in a folder, and other packages.
 * @returns the reason if npm cannot reach its registry, else null
 */
async function install(
  folder: string,
  packed: Readonly<Record<string, Packed>>,
  others: readonly string[],
): Promise<string | null> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const versions: Readonly<Record<string, string>> = { ...dependencies, ...devDependencies }
  const tarballs = Object.entries(packed).map(([name, { filename }]) => [name, `file:./${filename}`])
  const manifest = {
    private: true,
    type: 'module',
    dependencies: {
      ...Object.fromEntries(tarballs),
      // Applications have a range, so npm can choose one version for all.
      yjs: '^13.6.0',
      ...Object.fromEntries(others.map((name) => [name, versions[name]])),
    },
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const failure = await execute('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
    env: environment(),
    timeout: 100_000,
  }).then(
    () => null,
    (error: unknown) => error as { readonly stderr?: string },
  )
  if (failure !== null) {
    const reason = failure.stderr ?? ''
    if (/E(AI_AGAIN|NOTFOUND|CONN|TIMEDOUT|NETUNREACH|5\d\d)/.test(reason)) {
      await rm(folder, { recursive: true })
      return 'npm cannot reach its registry'
    }
    throw new Error(`npm install failed: ${reason}`)
  }
  return null
}

/**
 * Copies the build for tests into a folder that can be packed. The programs are bundled again, because they contain the
 * name of their folder, and `dist` may be that of a running server.
 */
async function stageServer(): Promise<void> {
  const built = fileURLToPath(builtFile('.'))
  await rm(stage, { recursive: true, force: true })
  await mkdir(stage, { recursive: true })
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'])
    await cp(join(root, name), join(stage, name))
  await cp(built, join(stage, 'dist'), { recursive: true, filter: (path) => path !== join(built, 'parts') })
  await build({ ...programs('dist/'), outdir: join(stage, 'dist') })
}

/** Packs folders with one process, because npm takes most of the time to start. */
async function pack(folders: readonly string[], into: string): Promise<readonly Packed[]> {
  const args = ['pack', ...folders, '--ignore-scripts', '--json', '--pack-destination', into]
  const { stdout } = await execute('npm', args, { cwd: into, env: environment(), maxBuffer: 2 ** 24 })
  return JSON.parse(stdout) as readonly Packed[]
}
