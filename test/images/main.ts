/**
 * Builds the real Dockerfile, and runs the image with a read-only root file system and without root.
 *
 *   npm run test:image
 *
 * It needs Linux, root and buildah, and takes one to three minutes. Without them it is skipped, except with
 * `WEFT_TEST_REQUIRED=1`. It cannot download the base image, so files of this machine stand in for it.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installedLibraries } from '../../src/build/bundles.ts'
import { errorMessage } from '../../src/core/base/errors.ts'
import { options } from '../../src/core/config/config.ts'
import { freePort } from '../support/servers/process.ts'
import { Stopwatch } from '../support/time/stopwatch.ts'
import { Builder, builderMissing, type ImageConfig } from './builder.ts'
import { Container, strangerId } from './container.ts'

const repository = join(import.meta.dirname, '../..')
const watch = new Stopwatch()
const second = 1e9
const readyMsMax = 30_000

async function rule(title: string, check: () => void | Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    throw new Error(`${title}: ${errorMessage(error)}`, { cause: error })
  }
  watch.lap(title)
}

function checkConfiguration(config: ImageConfig): void {
  ok(/^[1-9]\d*:[1-9]\d*$/.test(config.User), `user ${config.User}`)
  deepStrictEqual(Object.keys(config.Volumes), ['/data'])
  deepStrictEqual(Object.keys(config.ExposedPorts), [`${options.port.default}/tcp`])
  strictEqual(config.Labels['org.opencontainers.image.version'], '1.2.3')
  strictEqual(config.Labels['org.opencontainers.image.revision'], 'abc')
  const { StartPeriod = 0, Interval = 0, Timeout = 0 } = config.Healthcheck ?? {}
  ok(StartPeriod >= 60 * second && Interval >= second && Timeout >= second, 'times of the health check')
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
}
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** Returns the names of packages and of all their dependencies, except optional ones that are not installed. */
function closure(modules: string, names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names.filter((each) => !found.has(each) && existsSync(join(modules, each)))) {
    found.add(name)
    closure(modules, Object.keys(manifestOf(join(modules, name)).dependencies ?? {}), found)
  }
  return found
}

function checkContents(root: string): void {
  for (const path of ['usr/local/bin/npm', 'usr/local/bin/npx', 'usr/local/lib/node_modules', 'weft/src'])
    ok(!existsSync(join(root, path)), `${path} exists`)
  const modules = join(root, 'weft/node_modules')
  const installed = readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
    )
  deepStrictEqual(installed.toSorted(), [...closure(modules, installedLibraries)].toSorted())
  for (const platform of ['linux-x64', 'linux-arm64'])
    ok(existsSync(join(modules, 'classic-level/prebuilds', platform)), `no binary for ${platform}`)

  const { bomFormat, components } = JSON.parse(readFileSync(join(root, 'weft/sbom.cdx.json'), 'utf8')) as {
    bomFormat: string
    components: readonly { name: string; version: string; hashes?: readonly unknown[] }[]
  }
  strictEqual(bomFormat, 'CycloneDX')
  const names = new Set(components.map(({ name }) => name))
  const exact = new Set(components.map(({ name, version }) => `${name} ${version}`))
  const { dependencies = {}, devDependencies = {} } = manifestOf(repository) as Manifest & {
    devDependencies?: Readonly<Record<string, string>>
  }
  deepStrictEqual(
    Object.keys(dependencies).filter((name) => !names.has(name)),
    [],
  )
  for (const [name, version] of Object.entries(dependencies))
    if (/^\d/.test(version)) ok(exact.has(`${name} ${version}`), name)
  const bundled = ['jose', 'pg', 'preact', '@modelcontextprotocol/sdk']
  ok(bundled.every((name) => exact.has(`${name} ${devDependencies[name]}`)))
  const development = ['vitest', 'typescript', '@biomejs/biome', 'esbuild']
  ok(development.every((name) => name in devDependencies && !names.has(name)))
  ok(components.every(({ hashes = [] }) => hashes.length > 0))

  // No user can change the program: all its files belong to root, and no other user can write to them.
  for (const path of readdirSync(join(root, 'weft'), { recursive: true, encoding: 'utf8' })) {
    const { uid, mode } = lstatSync(join(root, 'weft', path))
    ok((uid === 0 && (mode & 0o170000) === 0o120000) || (uid === 0 && (mode & 0o022) === 0), path)
  }
  for (const folder of ['data', 'backups']) {
    const { uid, mode } = lstatSync(join(root, folder))
    deepStrictEqual([folder, uid, mode & 0o777], [folder, 1000, 0o700])
  }
}

async function untilReady(url: string, container: Container): Promise<void> {
  const late = performance.now() + readyMsMax
  while (performance.now() < late) {
    const ready = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ready) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`not ready: ${container.log}`)
}

async function checkRuns(root: string, data: string, config: ImageConfig): Promise<void> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const credentials = { WEFT_API_KEY: 'image-key', WEFT_AUTH_TOKEN: 'image-auth-token-1234' }
  const environment = { WEFT_PORT: String(port), WEFT_HOST: '127.0.0.1', ...credentials }
  const start = async (): Promise<Container> => {
    const container = new Container(root, data, config, environment)
    await untilReady(url, container)
    return container
  }
  const post = async (path: string, body: unknown): Promise<string> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-api-key': credentials.WEFT_API_KEY,
        'x-service-auth-token': credentials.WEFT_AUTH_TOKEN,
      },
      body: JSON.stringify({ data: body }),
    })
    strictEqual(response.status, 200)
    return response.text()
  }
  const editor = { organizationId: 'acme', documentId: 'notes', editorId: 'main', type: 'text' }

  const first = await start()
  await rule('[IMG-3] serves with a read-only root, as a user that the image does not know', async () => {
    await post('/v2/crdt/add', { ...editor, data: 'kept in the volume' })
    ok(first.isHealthy(), 'not healthy')
    strictEqual(first.execute(['node', '-e', "require('fs').writeFileSync('/tmp/x', '')"]).code, 1)
    strictEqual(first.execute(['node', '-p', 'process.getuid()']).out.trim(), String(strangerId))
    const owners = readdirSync(data).map((name) => lstatSync(join(data, name)).uid)
    ok(owners.length > 0 && owners.every((uid) => uid === strangerId))
    const { code, out } = first.execute(['node', 'dist/main.js', 'console', '--url', url])
    ok(code === 0 || out.includes('console'), out)
    ok(!first.log.includes('EROFS'), first.log)
  })
  await rule('[IMG-4] ends after SIGTERM as the first process, and keeps its documents', async () => {
    const { code, ms } = await first.stop()
    strictEqual(code, 0)
    ok(ms < options.shutdownSeconds.default * 1000, `${ms} ms`)
    const next = await start()
    ok((await post('/v2/crdt/get', editor)).includes('kept in the volume'))
    ok(next.isHealthy())
    await next.stop()
  })
}

const missing = builderMissing()
if (missing !== null) {
  console.log(`skipped: ${missing}`)
  process.exit(process.env.WEFT_TEST_REQUIRED === '1' ? 1 : 0)
}
const folder = mkdtempSync(join(tmpdir(), 'weft-image-'))
const builder = new Builder(folder)
try {
  builder.makeBaseImage()
  watch.lap('a stand-in for the base image')
  builder.build(repository, 'weft', { VERSION: '1.2.3', REVISION: 'abc' })
  watch.lap('the Dockerfile is built')
  const config = builder.inspect('weft')
  await rule('[IMG-1] has a user other than root, labels, and a health check with a start period', () =>
    checkConfiguration(config),
  )
  const root = builder.mount('weft')
  await rule(
    '[IMG-2] contains no development files and no package manager, and an SBOM of all libraries',
    () => checkContents(root),
  )
  const data = join(folder, 'data')
  mkdirSync(data)
  chownSync(data, strangerId, strangerId)
  await checkRuns(root, data, config)
  watch.end()
} catch (error) {
  console.error(`failed: ${errorMessage(error)}`)
  process.exitCode = 1
} finally {
  builder.remove()
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
}
