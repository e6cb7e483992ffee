import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-authorship-'))
const notes = { organizationId: 'acme', documentId: 'my notes', editorId: 'main' }
const address = 'acme/my%20notes/main'

let server: TestServer
let from = ''
beforeAll(async () => {
  server = await startTestServer({ engine: 'level', dataDir: join(root, 'data') })
  const made = await server.post('/v2/crdt/add', { ...notes, type: 'text', data: 'We ship.', userId: 'ann' })
  from = (dataOf(made) as { version: string }).version
  const edits = [{ insert: { at: 'end', content: ' Soon.' } }]
  await server.post('/v2/crdt/edit', { ...notes, edits, userId: 'agent', meta: { job: 'n-17', try: 2 } })
})
afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

const run = (...args: readonly string[]) =>
  runCli(['doc', ...args, '--url', server.url, '--data-dir', join(root, 'data')], root)
const json = async (...args: readonly string[]): Promise<unknown[]> =>
  (await run(...args, '--json')).out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

it('[ATT-80] doc blame prints the content with the author of each part', async () => {
  const { out, code } = await run('blame', address)
  expect(code).toBe(0)
  const [first, second] = out.split('\n')
  expect(first).toMatch(/text="We ship\." .*userId="ann"/)
  expect(first).not.toContain('meta')
  expect(second).toMatch(/text=" Soon\." .*userId="agent" .*meta={"job":"n-17","try":2}/)
  expect(await json('blame', address)).toMatchObject([
    { text: 'We ship.', userId: 'ann', source: 'rest', meta: null },
    { text: ' Soon.', userId: 'agent', source: 'rest', meta: { job: 'n-17', try: 2 } },
  ])
})

it('[ATT-80] doc history --from prints the changes since a version, and selects them by user and meta', async () => {
  const { out } = await run('history', address, '--from', from)
  expect(out).toMatch(/^changeId="\S+" .*userId="agent" .*"inserted":" Soon\.".*\n$/)
  const usersOf = async (...flags: readonly string[]) =>
    ((await json('history', address, '--from', from, ...flags)) as { userId: string }[]).map(
      ({ userId }) => userId,
    )
  expect(await usersOf()).toEqual(['agent'])
  expect(await usersOf('--by', 'ann')).toEqual([])
  expect(await usersOf('--meta', 'job=n-17', '--meta', 'try=2')).toEqual(['agent'])
  expect(await usersOf('--meta', 'try=3')).toEqual([])
  expect((await run('history', address, '--from', from, '--meta', 'job')).code).not.toBe(0)
})

it('[ATT-80] doc diff prints the difference of two versions in a format', async () => {
  expect((await run('diff', address, '--from', from, '--format', 'markdown')).out).toBe(
    'We ship.<ins> Soon.</ins>\n',
  )
  expect(await json('diff', address, '--from', from)).toMatchObject([
    {
      from,
      diff: [
        { change: 'none', text: 'We ship.' },
        { change: 'insert', text: ' Soon.' },
      ],
    },
  ])
})

it('[ATT-80] doc undo undoes changes, and changes nothing with --dry-run', async () => {
  const undo = ['undo', address, '--from', from, '--meta', 'job=n-17']
  expect((await run(...undo, '--dry-run')).out).toMatch(/changed=true .*undone=1 .*notUndone=\[\]/)
  expect((await run('get', address, '--format', 'text')).out).toBe('We ship. Soon.')
  expect(await json(...undo, '--user', 'bob')).toMatchObject([{ ok: true, undone: 1, notUndone: [] }])
  expect((await run('get', address, '--format', 'text')).out).toBe('We ship.')
  expect((await run(...undo)).out).toMatch(/changed=false/)
})

it('[ATT-80] doc undo prints overlaps, and --on-overlap decides', async () => {
  const ids = { ...notes, documentId: 'plan' }
  const made = await server.post('/v2/crdt/add', {
    ...ids,
    type: 'text',
    data: 'Budget: 100 EUR',
    userId: 'ann',
  })
  const { version } = dataOf(made) as { version: string }
  for (const [userId, find, content] of [
    ['agent', '100', '170'],
    ['ann', '170', '1705'],
  ])
    dataOf(
      await server.post('/v2/crdt/edit', { ...ids, userId, edits: [{ replace: { find, with: content } }] }),
    )
  const undo = ['undo', 'acme/plan/main', '--from', version, '--by', 'agent']
  const overlap = { path: '', base: '170', theirs: '1705', mine: '100', kept: 'theirs' }
  expect(await json(...undo, '--dry-run')).toMatchObject([{ ok: true, overlaps: [overlap] }])
  const failed = await run(...undo, '--on-overlap', 'fail')
  expect(failed.code).not.toBe(0)
  expect(failed.err).toContain('others have also changed the same words')
  expect((await run(...undo, '--on-overlap', 'keepMine')).out).toContain(
    '"theirs":"1705","mine":"100","kept":"mine"',
  )
  expect((await run('get', 'acme/plan/main', '--format', 'text')).out).toBe('Budget: 100 EUR')
})
