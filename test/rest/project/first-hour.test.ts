import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, it } from 'vitest'
import { builtFile } from '../../../src/core/base/package-file.ts'
import { missing } from '../../support/needs.ts'
import { type Ran, type Running, startCli } from '../../support/servers/cli.ts'
import { freePort } from '../../support/servers/process.ts'

const built = fileURLToPath(builtFile('.'))
const root = mkdtempSync(join(tmpdir(), 'weft-hour-'))
chmodSync(root, 0o755)
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

let count = 0
function directory(mode = 0o755): string {
  count += 1
  const path = join(root, String(count))
  mkdirSync(path)
  chmodSync(path, mode)
  return path
}

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const local = { WEFT_HOST: '127.0.0.1', WEFT_PORT: '0' }
const listening = /"port":(\d+).*"listening"/

/** Root can write everywhere. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Runs the built program as a user without rights. @param node arguments of Node */
async function run(
  cwd: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  node: readonly string[] = [],
): Promise<Ran> {
  const child = spawn(process.execPath, [...node, join(built, 'main.js'), ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...local, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...nobody,
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

/** Runs a server of the data directory in `cwd` until the test ends. */
async function serve(cwd: string, environment: Readonly<Record<string, string>> = {}): Promise<Running> {
  const running = startCli(['serve'], cwd, { ...local, ...environment })
  ends.push(async () => {
    running.child.kill('SIGTERM')
    await running.ended
  })
  await running.printed(listening)
  return running
}

/** The result of a start that ends with exactly one sentence. */
const sentence = (pattern: RegExp) => ({ code: 2, out: '', err: expect.stringMatching(pattern) })

it('[RUN-7] when the port is taken, does not start, and prints one sentence', async () => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  const { port } = occupant.address() as { port: number }
  const ran = await run(directory(0o777), ['serve', '--engine', 'memory'], { WEFT_PORT: String(port) })
  occupant.close()
  expect(ran).toEqual(
    sentence(/^weft: cannot listen on [\d.:]+: [^\n]+ listens there; stop it, or choose another --port\n$/),
  )
})

it('[RUN-60] a start after one that has failed at a taken port welcomes like a first start, and names the credentials file', async () => {
  const cwd = directory()
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  const { port } = occupant.address() as { port: number }
  const failed = await startCli(['serve'], cwd, { ...local, WEFT_PORT: String(port) }).ended
  expect(failed).toMatchObject({ code: 2, err: expect.stringContaining('cannot listen') })
  occupant.close()
  const notices: boolean[] = []
  for (let starts = 0; starts < 2; starts++) {
    const server = startCli(['serve'], cwd, local)
    await server.printed(listening)
    server.child.kill('SIGTERM')
    const { out } = await server.ended
    notices.push(/Weft created credentials in \S*credentials\.json/.test(out))
  }
  expect(notices).toEqual([true, false])
})

it('[RUN-7] when the configured API key is wrong, does not start, and prints one sentence', async () => {
  const cwd = directory(0o777)
  expect((await run(cwd, ['init', '.'])).code).toBe(0)
  expect(await run(cwd, ['serve'], { WEFT_API_KEY: 'typo' })).toEqual(
    sentence(
      /^weft: the store has API keys, but not the configured API key "typo"; set [^\n]+weft keys [^\n]+\n$/,
    ),
  )
})

it.each([
  ['the parent of the data directory', directory(0o555), './data'],
  ['the data directory', directory(0o555), '.'],
])(
  '[RUN-7] when a folder cannot be written, does not start, and prints one sentence: %s',
  async (_name, cwd, data) => {
    const ran = await run(cwd, ['serve', '--data-dir', data])
    expect(ran).toEqual(
      sentence(/^weft: [^\n]+(EACCES|ermission denied)[^\n]+make it writable for this user[^\n]*\n$/),
    )
  },
)

const versions = (version: string): string[] => {
  const code = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
}

it('[RUN-5] [RUN-7] when Node is outdated, does not start, and prints one sentence', async () => {
  const ran = await run(directory(0o777), ['serve'], {}, versions('18.20.4'))
  expect(ran).toEqual(
    sentence(/^weft: this is Node 18\.20\.4, and Weft needs Node 20\.19 or later: install it from \S+\n$/),
  )
  expect((await run(directory(0o777), ['--version'], {}, versions('20.19.0'))).code).toBe(0)
})

it('[RUN-5] until it has checked the Node version, runs only a small file that imports nothing but modules of Node', () => {
  const read = (name: string): readonly string[] => {
    const text = readFileSync(join(built, name), 'utf8')
    expect(text.length).toBeLessThan(2000)
    expect(text).not.toMatch(/\?\?=|\|\|=|&&=|static \{/)
    return [...text.matchAll(/^import\s*(?:[^'"();]*from\s*)?["']([^"']+)["']/gm)].flatMap(([, from = '']) =>
      from.startsWith('node:') ? [] : [from, ...read(join(from))],
    )
  }
  read('main.js')
})

it('[RUN-7] when another process uses the store, does not start, and prints one sentence', async () => {
  const cwd = directory()
  const { child } = await serve(cwd)
  const second = await startCli(['serve'], cwd, local).ended
  const holder = `the process ${child.pid} \\(node \\S+main\\.js\\)`
  expect(second).toEqual(sentence(new RegExp(`^weft: \\S+ is in use by ${holder}: stop it first\n$`)))
})

it.skipIf(missing('tmpfs'))(
  '[RUN-7] when the disk is full, does not start, and prints one sentence',
  async () => {
    const disk = directory(0o777)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=777', 'tmpfs', disk])
    ends.push(async () => execFileSync('umount', ['-l', disk]))
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize))
    const ran = await run(directory(0o777), ['serve', '--data-dir', join(disk, 'data')])
    expect(ran).toEqual(sentence(/^weft: [^\n]*(ENOSPC|[Nn]o space left)[^\n]*make room on its disk\n$/))
  },
)

const verdictsOf = ({ out }: Ran): Readonly<Record<string, string>> => {
  const { findings } = JSON.parse(out) as { findings: { name: string; verdict: string }[] }
  return Object.fromEntries(findings.map(({ name, verdict }) => [name, verdict]))
}

it('[RUN-6] [OPS-60] weft doctor recognizes the running server by its port and store', async () => {
  const cwd = directory()
  const port = String(await freePort())
  await serve(cwd, { WEFT_PORT: port })
  const environment = { ...local, WEFT_PORT: port, WEFT_MAX_CONNECTIONS: '100' }
  const told = await startCli(['doctor', '--json'], cwd, environment).ended
  expect(verdictsOf(told)).toMatchObject({ 'stored files': 'ok', credentials: 'ok', port: 'ok' })
  expect(told.code).toBe(0)
  const wrong = { ...environment, WEFT_API_KEY: 'another', WEFT_AUTH_TOKEN: 'sixteen-letters-and-more' }
  const refused = await startCli(['doctor', '--json'], cwd, wrong).ended
  expect(verdictsOf(refused)).toMatchObject({ 'stored files': 'ok', credentials: 'fail', port: 'ok' })
  expect(refused.code).toBe(1)
  expect(refused.out).toContain('does not accept the API key \\"another\\"')
  const operator = { ...environment, WEFT_ADMIN_TOKEN: 'sixteen-letters-and-more' }
  const rejected = await startCli(['doctor', '--json'], cwd, operator).ended
  expect(verdictsOf(rejected)).toMatchObject({ credentials: 'fail', port: 'ok' })
  const elsewhere = { ...environment, WEFT_DATA_DIR: join(root, 'elsewhere') }
  const other = await startCli(['doctor', '--json'], cwd, elsewhere).ended
  expect(verdictsOf(other)).toMatchObject({ port: 'fail' })
  expect(other.code).toBe(1)
  const otherPort = { ...environment, WEFT_PORT: '0' }
  expect(verdictsOf(await startCli(['doctor', '--json'], cwd, otherPort).ended)).toMatchObject({
    'stored files': 'fail',
  })
})

it('[RUN-6] weft doctor reports a file in place of the data directory as one failure with the remedy', async () => {
  const cwd = directory(0o777)
  writeFileSync(join(cwd, 'data'), '')
  const told = await run(cwd, ['doctor', '--json'], { WEFT_MAX_CONNECTIONS: '100' })
  const { findings } = JSON.parse(told.out) as {
    findings: { verdict: string; found: string; help: string }[]
  }
  expect(findings.filter(({ verdict }) => verdict === 'fail')).toMatchObject([
    {
      found: expect.stringMatching(/\/data is not a directory$/),
      help: 'name another directory: --data-dir',
    },
  ])
})

it('[RUN-6] weft doctor reports a folder that cannot be written as one failure', async () => {
  const told = await run(directory(0o555), ['doctor', '--json'], { WEFT_MAX_CONNECTIONS: '100' })
  const verdicts = verdictsOf(told)
  expect(told.code).toBe(1)
  expect(Object.keys(verdicts).filter((name) => verdicts[name] === 'fail')).toEqual(['data directory'])
  expect(verdicts).not.toHaveProperty('clock')
})
