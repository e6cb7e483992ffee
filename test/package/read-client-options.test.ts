import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtFile } from '../../src/core/base/package-file.ts'
import { createServer, type WeftServer } from '../../src/server/library/index.ts'
import { inheritedEnvironment } from '../support/servers/environment.ts'

const run = promisify(execFile)

/** A program that calls a server, and prints the options with which it called. */
const program = `
import { createClient, dataOf } from ${JSON.stringify(builtFile('package/client.js'))}
import { readClientOptions } from ${JSON.stringify(builtFile('package/server.js'))}

const options = await readClientOptions(JSON.parse(process.argv[1]))
const data = dataOf(await createClient(options).organizations.get({}))
console.log(JSON.stringify({ options, data, hasYjs: '__ $YJS$ __' in globalThis }))
`

let folder: string
let server: WeftServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-options-'))
  server = await createServer({ dataDir: join(folder, 'data'), log: false })
  await server.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs the program in the folder above the data directory. Returns its output, or its errors if it fails. */
async function calling(environment: Readonly<Record<string, string>>, options: object = {}) {
  const args = ['--input-type=module', '--eval', program, JSON.stringify(options)]
  const env = { ...inheritedEnvironment(), ...environment }
  const ended = run(process.execPath, args, { cwd: folder, env })
  return ended.then(
    ({ stdout }) => JSON.parse(stdout) as unknown,
    ({ stderr }: { stderr: string }) => stderr,
  )
}

it('[PKG-30] a program gets the options of the client from the data directory or from the environment', async () => {
  const { apiKey, authToken } = server.credentials
  const { port, origin: url } = new URL(server.url as string)
  const found = (address: string) => ({
    options: { url: address, apiKey, authToken },
    data: [],
    hasYjs: false,
  })
  const inData = { WEFT_PORT: port }
  expect(await calling(inData)).toEqual(found(url))
  expect(await calling({ WEFT_URL: `${url}/` }, { dataDir: 'data' })).toEqual(found(url))
  const given = { WEFT_URL: url, WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken }
  expect(await calling({ ...given, WEFT_DATA_DIR: 'none' })).toEqual(found(url))
})

it('[PKG-30] without credentials, a program gets an error that names their sources', async () => {
  expect(await calling({}, { dataDir: 'none' })).toMatch(
    /none has no credentials[\s\S]*set WEFT_API_KEY and WEFT_AUTH_TOKEN/,
  )
  expect(await calling({ WEFT_API_KEY: 'another' })).toMatch(/no auth token of the API key "another"/)
})
