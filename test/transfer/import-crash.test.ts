import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verify } from '../../src/capabilities/backups/storage/verify.ts'
import {
  allOf,
  docOf,
  forget,
  newStore,
  pathOf,
  runImport,
  storedOf,
  typedAfter,
} from '../support/data/import-sources.ts'
import { startCli } from '../support/servers/cli.ts'
import { itLong } from '../support/time/full-run.ts'

const rounds = 6
const documents = 600

itLong(
  `[MOVE-6] after ${rounds} SIGKILLs during an import of ${documents} documents, leaves a valid store, and the next call continues the import`,
  async () => {
    const data = await newStore()
    const old = mkdtempSync(join(tmpdir(), 'weft-old-'))
    const names = Array.from({ length: documents }, (_, at) => `org${at % 3}/d${at}/main`)
    const updates = names.map((name) => typedAfter([], name.repeat(20)))
    const file = join(old, 'updates.jsonl')
    const lines = names.map((name, at) =>
      JSON.stringify({ name, update: Buffer.from(updates[at]?.[0] ?? []).toString('base64') }),
    )
    writeFileSync(file, `${lines.join('\n')}\n`)
    try {
      for (let round = 0; round < rounds; round++) {
        const importing = startCli(['import', 'updates', file, '--data-dir', data], data)
        // The printed share counts checked documents, so that each round makes progress before the kill.
        const share = round % 2 === 0 ? /documents 25 %/ : /documents 50 %/
        await new Promise<void>((resolve) => {
          let told = ''
          importing.child.stderr?.on('data', (text: string) => {
            told += text
            if (share.test(told)) resolve()
          })
        })
        importing.child.kill('SIGKILL')
        expect((await importing.ended).code).toBeNull()
        expect((await verify(data, () => undefined)).damages).toEqual([])
      }
      const ran = await runImport(data, 'updates', file, '--json')
      const { made, there, added } = JSON.parse(ran.out) as { made: number; there: number; added: number }
      expect({ code: ran.code, all: made + there, added }).toEqual({ code: 0, all: documents, added: 0 })
      expect(there).toBeGreaterThan(0)
      expect(made).toBeGreaterThan(0)
      const stored = await storedOf(data, names.map(pathOf))
      expect(stored.map((each) => each?.head)).toEqual(names.map(() => 1))
      expect(stored.map((each) => each && allOf(each.doc))).toEqual(updates.map((each) => allOf(docOf(each))))
      expect((await verify(data, () => undefined)).damages).toEqual([])
    } finally {
      await forget(data)
      await forget(old)
    }
  },
  120_000,
)
