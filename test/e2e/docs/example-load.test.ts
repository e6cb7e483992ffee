import { afterAll, beforeAll, expect, it } from 'vitest'
import { runExample } from '../../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let weft: TestServer
beforeAll(async () => {
  weft = await startTestServer()
})
afterAll(() => weft?.stop())

const ended = async (...flags: string[]) => {
  const run = await runExample('load', weft, ['main.js', ...flags])
  return { code: await run.ended, out: run.out() }
}

it('[EXB-8] the load example counts each edit at each recipient', async () => {
  const small = ['--documents', '2', '--clients', '7', '--seconds', '1', '--rate', '10']
  const { code, out } = await ended('--url', weft.url, '--json', ...small)
  expect({ code, out }).toMatchObject({ code: 0 })
  const found = JSON.parse(out) as Record<string, Record<string, number>>
  // Ten edits of each client: four clients edit one document, three the other one.
  expect(found).toMatchObject({
    edits: { count: 10 * (4 * 3 + 3 * 2) },
    connects: { count: 7 },
    neverSeen: 0,
  })
  expect(found.rest?.count).toBeGreaterThan(0)
  expect(found.edits?.p50).toBeGreaterThan(0)
  expect(found.edits?.p50).toBeLessThanOrEqual(found.edits?.p99 as number)
  const left = dataOf(await weft.post('/v2/organizations/get', {})) as unknown[]
  expect(left).toEqual([])
})

it('[EXB-9] the load example sends load to another server only with --allow-remote, and limits the load', async () => {
  const answers = await Promise.all([
    ended('--url', 'https://weft.example.com'),
    ended('--url', 'http://127.0.0.1.example.com'),
    ended('--seconds', '601'),
    ended('--clients', '5000', '--rate', '50'),
  ])
  expect(answers.map(({ code }) => code)).toEqual([2, 2, 2, 2])
  const said = ['--allow-remote', '--allow-remote', 'from 1 to 600', 'at most 20000']
  for (const [index, words] of said.entries()) expect(answers[index]?.out).toContain(words)
})
