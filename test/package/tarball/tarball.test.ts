import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientPackages, entryPoints as entryPointSources } from '../../../src/build/client-packages.ts'
import { publishPackages } from '../../../src/build/publish-packages.ts'
import { builtFile } from '../../../src/core/base/package-file.ts'
import { readPackageVersion } from '../../../src/core/base/package-version.ts'
import { samplesOf } from '../../support/data/docs-samples.ts'
import { inheritedEnvironment } from '../../support/servers/environment.ts'
import { startNpmRegistry } from '../../support/servers/npm-registry.ts'
import { freePort } from '../../support/servers/process.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { isEverythingAsked, times } from '../../support/time/full-run.ts'
import {
  type InstalledClientPackages,
  type InstalledPackage,
  installClientPackages,
  installPackage,
  stage,
} from './packed.ts'

const root = join(import.meta.dirname, '../../..')
const megabyte = 1024 * 1024
/** Maximum bytes of the tarball, and of its files. */
const limits = { tarball: 5 * megabyte, files: 20_000_000 }
/** Maximum bytes of the four tarballs for pages. */
const clientTarballsMax = 220_000
/** The name of the package in an import or a re-export. */
const importedPackage = /^(?:import|export|\}) [^'"\n]*from ['"]((?:@[^/'"]+\/)?[^/'"]+)/gm
/** Milliseconds in which a program must end by itself. */
const endMs = 30_000

let installed: InstalledPackage
let missing: string | null = null

beforeAll(async () => {
  const found = await installPackage()
  if ('missing' in found) {
    if (isEverythingAsked) throw new Error(found.missing)
    missing = found.missing
    console.log(`skipped: ${missing}`)
    return
  }
  installed = found
  await copyPrograms(installed.folder)
})

afterAll(() => installed !== undefined && rm(installed.folder, { recursive: true, maxRetries: 20 }))

const copyPrograms = (folder: string): Promise<void> =>
  cp(join(import.meta.dirname, 'programs'), folder, { recursive: true })

/**
 * Defines a test of the installed package.
 * @param absent reason why the test cannot run on this machine; null if it can
 */
const itInstalled = (title: string, run: () => Promise<void>, absent: string | null = null): void =>
  it(title, async ({ skip }) => {
    const reason = missing ?? absent
    if (reason !== null) skip(reason)
    await run()
  })

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a command in the folder of an application, until it ends by itself. */
function runIn(
  command: string,
  args: readonly string[],
  { folder }: { readonly folder: string } = installed,
): Promise<Ended> {
  const options = { cwd: folder, env: inheritedEnvironment(), timeout: endMs, maxBuffer: 2 ** 24 }
  return new Promise((resolve) => {
    const child = execFile(command, args, options, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    )
  })
}

/** Runs a program of the application. Returns the JSON that it prints as its only output. */
async function outputOf(...args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await runIn(process.execPath, args)
  expect({ code, err }, out).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

/** Starts a program that serves on the port, uses it, and ends it with SIGTERM. It must then stop to serve. */
async function withServer(
  command: string,
  args: readonly string[],
  port: number,
  environment: Readonly<Record<string, string>>,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const child = spawn(command, args, {
    cwd: installed.folder,
    env: { ...inheritedEnvironment(), ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  })
  const url = `http://127.0.0.1:${port}`
  const isServing = (): Promise<boolean> =>
    fetch(url).then(
      () => true,
      () => false,
    )
  try {
    await expect.poll(isServing).toBe(true)
    await use(url)
    child.kill('SIGTERM')
    await expect.poll(isServing).toBe(false)
  } finally {
    // With the processes that it has started.
    if (child.pid !== undefined) endGroup(child.pid)
  }
}

function endGroup(id: number): void {
  try {
    process.kill(-id, 'SIGKILL')
  } catch {
    // All have ended.
  }
}

/** Names of the entry points, such as `.` and `./client`. */
const entryPoints = (): readonly string[] =>
  Object.entries(installed.manifest.exports).flatMap(([name, target]) =>
    typeof target === 'string' ? [] : [name],
  )

/** The runtimes in which the client is used, with their options. Those that are not in the path are skipped. */
const runtimes = [
  ['node', []],
  ['deno', ['run', '--allow-net=127.0.0.1']],
  ['bun', ['run']],
] as const

/** The text of a backend, with one character of each editor. */
const edited = expect.stringMatching(/^Hello(?:012|021|102|120|201|210)$/) as string
const collaboration = { text: edited, left: [] }

describe('the packed package', () => {
  itInstalled(
    '[PKG-21] contains no tests, no stale files and no broken source maps, and is not too large',
    async () => {
      const { packed, packageFolder } = installed
      const { size, unpackedSize, files } = packed
      console.log(
        `tarball: ${size} bytes of at most ${limits.tarball}, ${files.length} files with ${unpackedSize} bytes of at most ${limits.files}`,
      )
      expect(size).toBeLessThanOrEqual(limits.tarball)
      expect(unpackedSize).toBeLessThanOrEqual(limits.files)
      const paths = files.map(({ path }) => path)
      expect(paths.filter((path) => !path.startsWith('dist/')).toSorted()).toEqual([
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'package.json',
      ])
      expect(
        paths.filter((path) => /\.(test|spec)\.|^dist\/(SOURCES|build)|(^|\/)test\//.test(path)),
      ).toEqual([])
      const scripts = paths.filter((path) => path.endsWith('.js'))
      const texts = new Map(
        await Promise.all(
          scripts.map(async (path) => [path, await readFile(join(packageFolder, path), 'utf8')] as const),
        ),
      )
      // Each file of `parts` is one that another file imports.
      const all = [...texts.values()].join('\n')
      const parts = scripts.filter((path) => path.startsWith('dist/parts/'))
      expect(parts.length).toBeGreaterThan(20)
      expect(parts.filter((path) => !all.includes(path.slice('dist/parts/'.length)))).toEqual([])
      const maps = scripts.flatMap((path) => {
        const [, name] = /\n\/\/# sourceMappingURL=(\S+)\n?$/.exec(texts.get(path) ?? '') ?? []
        return name === undefined ? [] : [join(path, '..', name)]
      })
      expect(maps.toSorted()).toEqual(paths.filter((path) => path.endsWith('.map')).toSorted())
      for (const map of maps) {
        const { sources, sourcesContent } = JSON.parse(await readFile(join(packageFolder, map), 'utf8'))
        const isForPages = map.startsWith('dist/package/') && map !== 'dist/package/server.js.map'
        expect([map, sourcesContent?.length]).toEqual([map, isForPages ? sources.length : undefined])
        expect([map, sourcesContent?.includes(null) ?? false]).toEqual([map, false])
      }
    },
  )

  itInstalled('[PKG-20] exports every type that an entry point declares', async () => {
    for (const name of Object.keys(entryPointSources)) {
      const types = await readFile(join(installed.packageFolder, `dist/package/${name}.d.ts`), 'utf8')
      const declared = types
        .split('\n')
        .filter((line) => /^(export )?(declare |interface |type |class |function |const )/.test(line))
      expect(declared.length).toBeGreaterThan(3)
      expect(declared.filter((line) => !line.startsWith('export '))).toEqual([])
    }
  })

  itInstalled('[PKG-22] has no problem that publint or arethetypeswrong finds', async () => {
    const { packageFolder, tarball } = installed
    const { messages } = await publint({ pkgDir: packageFolder, pack: false, strict: true })
    expect(messages).toEqual([])
    const found = await checkPackage(createPackageFromTarballData(tarball), {
      entrypoints: [...entryPoints()],
    })
    if (found.types === false) throw new Error('the package has no types')
    expect(Object.keys(found.entrypoints)).toEqual(entryPoints())
    // Node reads `exports`, so the resolution of Node 10 is never right. `require` loads ES modules: PKG-28.
    const problems = found.problems.filter(
      (problem) =>
        !('resolutionKind' in problem && problem.resolutionKind === 'node10') &&
        problem.kind !== 'CJSResolvesToESM',
    )
    expect(problems).toEqual([])
  })

  itInstalled(
    '[PKG-23] installs one copy of the packages of Yjs for an application, its editors and the server',
    async () => {
      const { out } = await runIn('npm', ['ls', '--all', '--parseable', 'yjs', 'lib0', 'y-protocols'])
      const names = out
        .trim()
        .split('\n')
        .map((path) => path.slice(installed.folder.length))
      expect(names.toSorted()).toEqual([
        '/node_modules/lib0',
        '/node_modules/y-protocols',
        '/node_modules/yjs',
      ])
    },
  )
})

describe('types', () => {
  const compilers = {
    '5.4': join(root, 'test/interop/node_modules/typescript-5-4/bin/tsc'),
    '7.0': join(root, 'node_modules/typescript/bin/tsc'),
  }
  for (const [version, compiler] of Object.entries(compilers)) {
    const isAbsent = !existsSync(compiler) && !isEverythingAsked
    const absent = isAbsent ? `TypeScript ${version} is not installed (cd test/interop && npm ci)` : null
    const resolutions = [
      ['node16', 'node16'],
      ['esnext', 'bundler'],
    ] as const
    // The old compiler, which is written in JavaScript, is the slowest part of this file.
    const count = version === '5.4' ? times(1, 2) : 2
    for (const [module, moduleResolution] of resolutions.slice(0, count))
      itInstalled(
        `[PKG-24] a consumer of all entry points passes TypeScript ${version} with ${moduleResolution}, without skipLibCheck`,
        async () => {
          const project = `tsconfig.${version}.${moduleResolution}.json`
          const compilerOptions = {
            module,
            moduleResolution,
            target: 'es2022',
            lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
            strict: true,
            noEmit: true,
            skipLibCheck: false,
            types: ['node'],
          }
          await writeFile(
            join(installed.folder, project),
            JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
          )
          const { out, err } = await runIn(process.execPath, [compiler, '-p', project, '--pretty', 'false'])
          // The types of lib0 need TypeScript 5.7.
          const errors = out
            .split('\n')
            .filter((line) => line !== '' && !line.startsWith('node_modules/lib0/'))
          expect({ errors, err }).toEqual({ errors: [], err: '' })
          const consumer = await readFile(join(installed.folder, 'consumer.ts'), 'utf8')
          const unused = entryPoints().filter((name) => !consumer.includes(`'${join('weft-server', name)}'`))
          expect(unused).toEqual([])
        },
        absent,
      )
  }

  itInstalled('[PKG-24] the consumer uses each function and each class of every entry point', async () => {
    const names = entryPoints().map((name) => join('weft-server', name))
    const program = `const found = await Promise.all(${JSON.stringify(names)}.map((name) => import(name)))
console.log(JSON.stringify(found.flatMap((entry) => Object.keys(entry))))`
    await writeFile(join(installed.folder, 'exported.mjs'), program)
    const exported = (await outputOf('exported.mjs')) as readonly string[]
    expect(exported).toContain('useComments')
    const consumer = await readFile(join(installed.folder, 'consumer.ts'), 'utf8')
    // Once in an import, and once where it is used.
    const uses = (name: string): number => consumer.split(new RegExp(`\\b${name}\\b`)).length - 1
    expect(exported.filter((name) => uses(name) < 2)).toEqual([])
  })
})

describe('an application', () => {
  itInstalled('[PKG-25] embeds the server in Express in at most 30 lines', async () => {
    const [program] = samplesOf('src/docs/library.md').filter(({ note }) => note === 'weft-express.mjs')
    const text = program?.text ?? ''
    expect(
      text
        .trim()
        .split('\n')
        .filter((line) => line.trim() !== '').length,
    ).toBeLessThanOrEqual(30)
    await writeFile(join(installed.folder, 'weft-express.mjs'), text)
    const port = await freePort()
    await withServer(process.execPath, ['weft-express.mjs'], port, { PORT: String(port) }, async (url) => {
      expect(await outputOf('use-express.mjs', url)).toEqual(edited)
    })
  })

  itInstalled('[PKG-26] embeds the server in Fastify, and ends by itself after close', async () => {
    expect(await outputOf('fastify.mjs')).toEqual({ ...collaboration, own: { mine: true }, rest: 'success' })
  })

  itInstalled(
    '[PKG-26] embeds the server in node:http below a path, and ends by itself after close',
    async () => {
      expect(await outputOf('node-http.mjs')).toEqual({ ...collaboration, own: 'own page' })
    },
  )

  itInstalled(
    '[PKG-26] runs servers in memory and with two data directories in one process, and ends by itself',
    async () => {
      const output = (await outputOf('two-servers.mjs')) as { readonly texts: readonly string[] }
      expect(output).toEqual({ texts: Array(3).fill(collaboration.text), isKept: true, keys: 3, left: [] })
    },
  )

  itInstalled('[PKG-27] starts the server with npx, which ends with it', async () => {
    const port = await freePort()
    const options = {
      WEFT_PORT: String(port),
      WEFT_HOST: '127.0.0.1',
      WEFT_DATA_DIR: 'npx-data',
      WEFT_LOG_LEVEL: 'error',
    }
    const command = ['--no-install', 'weft-server']
    await withServer('npx', command, port, options, async (url) => {
      for (const path of ['/readyz', '/docs', '/console', '/client/weft-socket.js'])
        expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
      const { code, out } = await runIn('npx', [...command, '--version'])
      expect({ code, out: out.trim() }).toEqual({ code: 0, out: installed.manifest.version })
    })
  })

  itInstalled('[PKG-28] can be CommonJS', async () => {
    expect(await outputOf('required.cjs')).toEqual({ ids: ['acme'], provider: 'function', react: 'function' })
  })

  itInstalled('[PKG-29] uses the client with only the standard APIs of edge runtimes', async () => {
    const { code, out, err } = await runIn(process.execPath, [
      '--no-warnings',
      '--experimental-vm-modules',
      'edge.mjs',
    ])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toEqual({
      data: 'Hello',
      ids: ['acme'],
      code: 'document/not-found',
      late: 'client/aborted',
      webhook: 'WebhookRejectedError',
    })
  })

  for (const [runtime, options] of runtimes)
    it(`[PKG-33] uses the client and its endpoint in ${runtime}`, async ({ skip }) => {
      if (missing !== null) skip(missing)
      if ((await runIn(runtime, ['--version'])).code !== 0) skip(`${runtime} is not installed`)
      const server = await startTestServer()
      try {
        const { apiKey, authToken } = server.credentials
        const { code, out, err } = await runIn(runtime, [
          ...options,
          'runtimes.mjs',
          server.url,
          apiKey,
          authToken,
        ])
        expect({ code, err }, out).toEqual({ code: 0, err: '' })
        expect(JSON.parse(out)).toEqual({
          data: 'Hello',
          codes: ['document/not-found', 'client/aborted'],
          pages: ['a', 'b', 'c', 'notes'],
          events: ['notes', 'a', 'b', 'c'],
          event: 'document.create',
          forged: 'WebhookRejectedError',
          accessRole: 'viewer',
          status: 400,
        })
      } finally {
        await server.stop()
      }
    })
})

describe('the packages for pages', () => {
  let pages: InstalledClientPackages
  beforeAll(async () => {
    if (missing !== null) return
    const others = [
      '@types/node',
      '@types/react',
      '@types/react-dom',
      '@types/ws',
      'prosemirror-state',
      'prosemirror-view',
      'react',
      'react-dom',
      'ws',
    ]
    const found = await installClientPackages(others)
    if ('missing' in found) throw new Error(found.missing)
    pages = found
    await copyPrograms(pages.folder)
  })
  afterAll(() => pages !== undefined && rm(pages.folder, { recursive: true, maxRetries: 20 }))

  /** Runs a command in the application without the server. Returns its output. */
  async function printedBy(command: string, ...args: readonly string[]): Promise<string> {
    const { code, out, err } = await runIn(command, args, pages)
    expect({ code, err }, out).toEqual({ code: 0, err: '' })
    return out
  }

  itInstalled('[PKG-60] contain their script, their types and the documents about them', async () => {
    const { folder, packed } = pages
    expect(Object.keys(packed)).toEqual(Object.values(clientPackages).map(({ name }) => name))
    let bytes = 0
    for (const [name, { filename, files, size, unpackedSize }] of Object.entries(packed)) {
      console.log(`${name}: ${size} bytes, ${files.length} files with ${unpackedSize} bytes`)
      bytes += size
      const scripts = ['index.d.ts', 'index.js', 'index.js.map']
      expect(files.map(({ path }) => path).toSorted()).toEqual(
        ['LICENSE', 'README.md', ...scripts, 'package.json'].toSorted(),
      )
      const pkgDir = join(folder, 'node_modules', name)
      const manifest = JSON.parse(await readFile(join(pkgDir, 'package.json'), 'utf8'))
      expect(manifest).toMatchObject({ name, version: readPackageVersion() })
      // Contains neither Yjs nor the provider of another package.
      const texts = await Promise.all(
        ['index.js', 'index.d.ts'].map((file) => readFile(join(pkgDir, file), 'utf8')),
      )
      const imports = texts.join('\n').matchAll(importedPackage)
      expect([...new Set([...imports].map(([, imported]) => imported))].toSorted()).toEqual(
        Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).toSorted(),
      )
      const { messages } = await publint({ pkgDir, pack: false, strict: true })
      expect([name, messages]).toEqual([name, []])
      const found = await checkPackage(createPackageFromTarballData(await readFile(join(folder, filename))))
      if (found.types === false) throw new Error(`${name} has no types`)
      // `require` loads ES modules: PKG-28.
      expect(found.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM')).toEqual([])
    }
    expect(bytes).toBeLessThanOrEqual(clientTarballsMax)
  })

  itInstalled(
    '[PKG-61] are installed without the server, with one copy of Yjs and of the provider',
    async () => {
      const single = [clientPackages.provider.name, 'lib0', 'y-protocols', 'yjs']
      const listed = await printedBy('npm', 'ls', '--all', '--parseable', ...single, 'weft-server')
      const names = listed
        .trim()
        .split('\n')
        .map((path) => path.slice(`${pages.folder}/node_modules/`.length))
      expect(names.filter((name) => single.includes(name)).toSorted()).toEqual(single)
      expect(names.filter((name) => /node_modules|weft-server/.test(name))).toEqual([])
    },
  )

  itInstalled(
    '[PKG-63] are published with the server, and a repetition leaves out what is published',
    async () => {
      const registry = await startNpmRegistry()
      try {
        // Each package needs several processes of npm.
        const entries = Object.entries(clientPackages).slice(0, times(2, Number.POSITIVE_INFINITY))
        const names = [...entries.map(([, { name }]) => name), 'weft-server']
        const folders = entries.map(([entry]) => fileURLToPath(builtFile(`packages/${entry}`)))
        const options = [...registry.options, '--no-provenance', '--ignore-scripts']
        const publish = (): Promise<void> => publishPackages([...folders, stage], options)
        // The last package for pages, so that the server follows it.
        registry.rejectOnce(String(names.at(-2)))
        await expect(publish()).rejects.toThrow('403')
        expect(registry.published).toEqual(names.slice(0, -2))
        await publish()
        expect(registry.published).toEqual(names)
      } finally {
        registry.close()
      }
    },
  )

  itInstalled('[PKG-61] compile in a program, which edits a document of a server', async () => {
    const compilerOptions = { module: 'nodenext', target: 'es2022', strict: true, types: ['node'] }
    const project = JSON.stringify({ compilerOptions, files: ['pages.ts'] })
    await writeFile(join(pages.folder, 'tsconfig.json'), project)
    await printedBy(process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')
    const server = await startTestServer()
    try {
      const { apiKey, authToken } = server.credentials
      const printed = await printedBy(process.execPath, 'pages.js', server.url, apiKey, authToken)
      expect(JSON.parse(printed)).toEqual({
        read: 'Hello',
        written: 'Hello world',
        page: 'Loading',
      })
    } finally {
      await server.stop()
    }
  })
})
