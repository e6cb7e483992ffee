import { expect, it } from 'vitest'
import { Random } from '../../support/data/random-doc.ts'
import { docKey } from './sample-data.ts'
import type { Bench } from './suite.ts'

const recordBytes = 4_096
/** The number of records of each kind. */
const records = 40
const total = 3 * records * recordBytes

/** Tests of the estimate of stored bytes. */
export function storedBytesContract(bench: () => Bench): void {
  const under = { logs: [['workspace']], blobs: [['versions', 'workspace']], parts: [['kind', 'workspace']] }

  it('[ENG-80] counts only the bytes under the given keys, also after a restart', async () => {
    const random = new Random(1)
    const noise = () => Uint8Array.from({ length: recordBytes }, () => random.below(256))
    const { engine } = bench()
    expect(await engine.storedBytes(under)).toBe(0)
    for (const workspace of ['workspace', 'workspace 2', 'worksp']) {
      const doc = [workspace, ...docKey('document').slice(1)]
      for (let record = 0; record < records; record++) {
        const name = `${record}`
        const puts = [{ key: [name], value: noise() }]
        await Promise.all([
          engine.log.append(doc, record === 0 ? 'create' : 1, [{ bytes: noise(), by: 'ada' }]),
          engine.blobs.put(['versions', workspace, name], noise()),
          engine.kv.commit(['kind', workspace, 'key'], { puts }),
          engine.kv.commit(['other', workspace], { puts }),
        ])
      }
    }
    for (let opening = 0; opening < 2; opening++) {
      const bytes = await bench().engine.storedBytes(under)
      expect(bytes).toBeGreaterThan(0.9 * total)
      expect(bytes).toBeLessThan(1.1 * total)
      await bench().reopen()
    }
  })
}
