import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { inheritedEnvironment } from '../../support/servers/environment.ts'
import { freePort } from '../../support/servers/process.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = resolve(import.meta.dirname, '../../..')
let folder: string
const started: ChildProcess[] = []

/** A copy of the project whose sources a test may change. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-project-'))
  for (const name of ['src', 'package.json', 'package-lock.json', 'tsconfig.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  linkPackages(join(root, 'node_modules'), join(folder, 'node_modules'))
})

/** Hard links take no space. Other file systems need a copy. */
function linkPackages(from: string, to: string): void {
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'ignore' })
  } catch {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  }
  rmSync(join(to, '.cache'), { recursive: true, force: true })
}

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))

function run(command: string, args: readonly string[]): ChildProcess {
  const env = inheritedEnvironment()
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
  started.push(child)
  return child
}

function edit(file: string, change: (text: string) => string): void {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const changed = change(text)
  expect(changed, file).not.toBe(text)
  writeFileSync(path, changed)
}

const textAt = async (url: string): Promise<string> =>
  fetch(url).then(
    async (response) => (response.ok ? response.text() : ''),
    () => '',
  )

const isServing = (url: string, path: string, text: string): Promise<void> =>
  eventually(async () => (await textAt(url + path)).includes(text), undefined, 120_000)

itLong(
  '[DEV-1] `npm run dev` serves changes of the server, the console and the documentation, and continues after a mistake',
  async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const args = ['run', 'dev', '--', '--engine', 'memory', '--host', '127.0.0.1', '--port', String(port)]
    run('npm', args)
    await isServing(url, '/console/main.js', 'location.reload')
    expect(await textAt(`${url}/console/playground.js`)).toContain('location.reload')
    expect(await textAt(`${url}/docs/script.js`)).toContain('location.reload')
    expect(await textAt(`${url}/console/main.js`)).toContain('//# sourceMappingURL=data:')
    edit('src/console/main.tsx', (text) => `${text}\ndocument.body.dataset.built = 'console-2'\n`)
    await isServing(url, '/console/main.js', 'console-2')
    const build = await textAt(`${url}/console/build.js`)
    edit('src/console/styles/style.css', (text) => `${text}\n.second-build { color: red }\n`)
    await isServing(url, '/console/style.css', 'second-build')
    expect(await textAt(`${url}/console/build.js`)).not.toBe(build)
    edit('src/docs/concepts.md', (text) => `${text}\nDocumentation of the second build.\n`)
    await isServing(url, '/docs/concepts', 'Documentation of the second build.')
    edit('src/main.ts', (text) => `${text}\nconst broken = = 1\n`)
    edit('src/docs/concepts.md', (text) => text.replace('second build', 'third build'))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(await textAt(`${url}/docs/concepts`)).toContain('second build')
    edit('src/main.ts', (text) => text.replace('\nconst broken = = 1\n', ''))
    await isServing(url, '/docs/concepts', 'third build')
  },
)

itLong('[DEV-2] builds again only after a change, and uses a separate build for the tests', async () => {
  const exits = async (child: ChildProcess): Promise<void> => expect((await once(child, 'exit'))[0]).toBe(0)
  const build = (): Promise<void> => exits(run('npm', ['run', '--silent', 'build']))
  const builtAt = () => statSync(join(folder, 'dist/main.js')).mtimeMs
  await build()
  const first = builtAt()
  await build()
  expect(builtAt()).toBe(first)
  const comment = '\n// A comment.\n'
  edit('src/main.ts', (text) => text + comment)
  const forTests = [
    "import { buildPrograms } from './src/build/build.ts'",
    "import { buildFolders } from './src/build/build-folders.ts'",
    'await buildPrograms(buildFolders.test)',
  ]
  await exits(run('node', ['--import', 'tsx', '--input-type=module', '--eval', forTests.join('\n')]))
  expect(builtAt()).toBe(first)
  expect(existsSync(join(folder, 'node_modules/.cache/weft-test/main.js'))).toBe(true)
  // The next test then starts this build.
  edit('src/main.ts', (text) => text.slice(0, -comment.length))
})

itLong('[DEV-3] `npm start` ends with the server when it gets a signal', async () => {
  const port = await freePort()
  const child = run('npm', [
    'start',
    '--',
    '--engine',
    'memory',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
  ])
  await eventually(async () => (await textAt(`http://127.0.0.1:${port}/healthz`)) !== '', undefined, 120_000)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  await eventually(async () => (await textAt(`http://127.0.0.1:${port}/healthz`)) === '')
})

const chart = 'examples/deploy/helm/weft'

itLong('[DEV-4] releases only a version that is newer and whose changes are in the changelog', async () => {
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md', '.gitignore'])
    cpSync(join(root, name), join(folder, name))
  // The chart has the version of the package.
  cpSync(join(root, chart), join(folder, chart), { recursive: true })
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  const release = async (...args: readonly string[]): Promise<unknown> => {
    const [code] = await once(run('npm', ['run', '--silent', 'release', '--', ...args]), 'exit')
    return code
  }
  expect(await release('9.9.9')).toBe(1)
  git('add', '--all')
  git('commit', '--quiet', '--message', 'project: begin')
  expect(await release()).toBe(1)
  expect(await release('0.0.1')).toBe(1)
  expect(await release('9.9.9', '--dry-run')).toBe(0)
  expect(git('tag', '--list')).toBe('')
  expect(await release('9.9.9')).toBe(0)
  expect(git('tag', '--list')).toBe('v9.9.9')
  expect(git('tag', '--list', '--format=%(contents)', 'v9.9.9')).toMatch(/^Weft 9\.9\.9\n\n### Added\n\n- /)
  expect(git('status', '--porcelain')).toBe('')
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({ version: '9.9.9' })
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
  expect(changelog).toMatch(/## Unreleased\n\n## \[9\.9\.9\] - 20\d\d-\d\d-\d\d\n/)
  // Nothing has changed since.
  expect(await release('9.9.10')).toBe(1)
})
