import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../src/capabilities/list.ts'
import { exampleEnvironment, exampleFolder } from '../support/servers/examples.ts'
import { type FaultyServer, startFaultyServer } from '../support/servers/faulty-server.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'

const run = promisify(execFile)
const folder = exampleFolder('client-python')

let server: TestServer
let faulty: FaultyServer
beforeAll(async () => {
  server = await startTestServer()
  faulty = await startFaultyServer(server.url)
})
afterAll(async () => {
  await faulty?.stop()
  await server?.stop()
})

/** Runs Python in the folder of the example, and returns its output. */
async function python(args: readonly string[], url: string): Promise<string> {
  const env = { ...exampleEnvironment(server), WEFT_URL: url, PYTHONDONTWRITEBYTECODE: '1' }
  return (await run('python3', [...args], { cwd: folder, env })).stdout
}

/** A program that creates a version, and prints the labels of all versions or the code of the error. */
const program = `
import os
from weft import Weft, WeftError
weft = Weft(os.environ["WEFT_URL"], os.environ["WEFT_API_KEY"], os.environ["WEFT_AUTH_TOKEN"], retries=3)
editor = {"organizationId": "python", "documentId": "plan", "editorId": "main"}
try:
    weft.crdt.versions.create({**editor, "label": "once"})
    print([each["label"] for each in weft.crdt.versions.list_items({**editor, "pageSize": 1})])
except WeftError as error:
    print(error.code)
`

describe('the client for Python', () => {
  beforeAll(() => python(['generate.py'], server.url))

  it('[PCLI-22] the generated file has a method for each operation', () => {
    const text = readFileSync(join(folder, 'weft_api.py'), 'utf8')
    const called = [...text.matchAll(/_caller\.call\("([^"]+)"/g)].map(([, path]) => path)
    expect(called.toSorted()).toEqual(operationList.map(({ path }) => path).toSorted())
  })

  it('[PCLI-22] the example program runs to its end', async () => {
    const lines = (await python(['story.py'], server.url)).trim().split('\n')
    expect(lines).toHaveLength(6)
  })

  it('[PCLI-23] repeats a call with one key, so that it has one effect, and returns final errors', async () => {
    const editor = { organizationId: 'python', documentId: 'plan', editorId: 'main' }
    await server.post('/v2/crdt/add', { ...editor, type: 'text', data: 'Hello.' })
    const page = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' }
    faulty.faults.push('lose', 'cut', page)
    expect(await python(['-c', program], faulty.url)).toBe("['once']\n")
    expect(new Set(faulty.requests.slice(0, 4).map(({ key }) => key)).size).toBe(1)

    faulty.requests.length = 0
    faulty.faults.push('refuse', 'refuse', 'refuse', 'refuse')
    expect(await python(['-c', program], faulty.url)).toBe('client/unreachable\n')
    expect(faulty.requests).toHaveLength(4)

    faulty.requests.length = 0
    faulty.faults.push({ status: 307, headers: { location: `${faulty.url}/elsewhere` }, body: '' })
    expect(await python(['-c', program], faulty.url)).toBe('client/invalid-response\n')
    expect(faulty.requests.map(({ path }) => path)).toEqual(['/v2/crdt/versions/create'])
  })
})
