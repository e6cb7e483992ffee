import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { directoryOn, tenant } from '../../support/data/directory.ts'

const scope = { ...tenant, organizationId: 'acme' }
const address = (documentId: string) => ({ ...scope, documentId, editorId: 'main' })

/**
 * Edits `count` documents, with a gap of `gapMs` after each edit. Returns the number of edits that each commit has
 * recorded.
 */
async function recorded(count: number, gapMs: number): Promise<readonly number[]> {
  const engine = await openMemoryEngine()
  const sizes: number[] = []
  const commit: typeof engine.kv.commit = (part, content) => {
    const edits = (content.puts ?? []).filter(
      ({ key, value }) => key[0] === 'activities' && Buffer.from(value).includes('crdt.editor_edit'),
    )
    if (edits.length > 0) sizes.push(edits.length)
    return engine.kv.commit(part, content)
  }
  const kv = {
    commit,
    get: engine.kv.get.bind(engine.kv),
    scan: engine.kv.scan.bind(engine.kv),
  }
  const { documents, edits } = directoryOn({ ...engine, kv })
  edits.start()
  for (let index = 0; index < count; index++) await documents.ensure(scope, `d${index}`)
  for (let index = 0; index < count; index++) {
    const started = edits.windows.noted(address(`d${index}`), [{ userId: 'ann' }])
    await engine.kv.commit(['any'], { jobs: started?.jobs ?? [] })
    started?.stored()
    if (gapMs > 0) await sleep(gapMs)
  }
  await eventually(() => sizes.reduce((sum, size) => sum + size, 0) === count)
  await edits.stop()
  return sizes
}

it('[ACT-30] records edits that occur soon after each other in few commits', async () => {
  expect((await recorded(20, 2)).length).toBeLessThanOrEqual(5)
})

it('[ACT-30] records at most 32 edits in one commit, so that the commit does not delay other work', async () => {
  const sizes = await recorded(100, 0)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(32)
})

it('[ACT-11] writes one record when it stores the number of commits at the end of a window', async () => {
  const engine = await openMemoryEngine()
  const puts: number[] = []
  const kv = {
    commit: (...[part, content]: Parameters<typeof engine.kv.commit>) => {
      puts.push(content.puts?.length ?? 0)
      return engine.kv.commit(part, content)
    },
    get: engine.kv.get.bind(engine.kv),
    scan: engine.kv.scan.bind(engine.kv),
  }
  const { documents, edits } = directoryOn({ ...engine, kv })
  await documents.ensure(scope, 'd')
  const ann = [{ userId: 'ann' }]
  const started = edits.windows.noted(address('d'), ann)
  await engine.kv.commit(['any'], { jobs: started?.jobs ?? [] })
  expect(edits.windows.noted(address('d'), ann)).toBeNull()
  await edits.drain()
  await edits.stop()
  expect(puts.at(-1)).toBe(1)
  await engine.close()
})
