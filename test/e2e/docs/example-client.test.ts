import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exampleFolder, installExample, runExample } from '../../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await installExample('client')
}, 300_000)
afterAll(() => server?.stop())

it('[EXB-11] the program of examples/client compiles, and its wrong calls do not', async () => {
  // TypeScript reports an expected error in wrong.ts that does not occur.
  const folder = exampleFolder('client')
  await promisify(execFile)(join(folder, 'node_modules', '.bin', 'tsc'), ['-p', folder])
}, 60_000)

it('[EXB-12] the program of examples/client runs to its end', async () => {
  const running = await runExample('client', server, ['--import', 'tsx', 'story.ts'])
  const code = await running.ended
  const out = running.out()
  expect({ code, out }).toMatchObject({ code: 0 })
  const lines = out.trim().split('\n')
  expect(lines.filter((line) => line.startsWith('- '))).toHaveLength(7)
  expect(out).toContain('rejected, because the document has changed')
  expect(out).toContain('the new documents agenda, budget, minutes')
  expect(dataOf(await server.post('/v2/workspace/feed/get', {}))).toMatchObject({ enabled: false })
}, 60_000)
