import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** A program in which each line that ends with the comment `wrong` must not compile. */
const program = `
import {
  createClient,
  dataOf,
  type CrdtGetData,
  type CrdtUpdateErrorCode,
  verifyWebhook,
  type WebhookEvent,
  type WeftEvent,
} from '${root}/src/client/rest/index.ts'
const client = createClient({ url: 'https://weft.example.com', apiKey: 'key', authToken: 'token' })
const document = { organizationId: 'acme', documentId: 'plan' }

await client.crdt.replace(document) // wrong
await client.crdt.get({ ...document, editorID: 'main' }) // wrong
await client.crdt.get({ organizationId: 'acme' }) // wrong
await client.crdt.update({ ...document, editorId: 'main', type: 'txt', data: '' }) // wrong
await client.crdt.get(document, { timeout: 5 }) // wrong
client.crdt.get.items(document) // wrong
createClient({ url: 'https://weft.example.com', key: 'key' }) // wrong

const read = await client.crdt.get({ ...document, editorId: undefined })
read.data // wrong
if (read.ok) {
  const entries: CrdtGetData = read.data
  entries[0]?.contents // wrong
  read.error // wrong
} else {
  const failed: 'crdt/no-content' | 'other' = read.error.code === 'crdt/no-content' ? read.error.code : 'other'
  if (read.error.code === 'crdt/no-such-code') console.log(failed) // wrong
  if (read.error.code === 'webhook/disabled') console.log(failed) // wrong
  if (read.error.code === 'client/timeout') console.log(read.error.retryAfterSeconds)
}
const [entry] = dataOf(read)
const text: string | undefined = entry?.version
for await (const { documentName } of client.organizations.documents.get.items({ organizationId: 'acme' })) {
  const name: number = documentName // wrong
  console.log(name, text)
}
for await (const organization of client.organizations.get.items()) console.log(organization.id)
for await (const event of client.feedEvents({ content: 'text' })) {
  event.content // wrong
  if (event.type === 'crdt.update_data') {
    event.content?.text // wrong
    console.log(event.content?.data, event.data.versionBefore?.length)
  } else if (event.type === 'comment.add') {
    event.data.comment.text // wrong
    event.data.document // wrong
    console.log(event.data.comment?.text.length, event.data.annotation?.priority?.length)
  } else if (event.type === 'document.created') {} // wrong
}
client.feedEvents({ waitSeconds: 5 }) // wrong
const added = (event: WeftEvent<'comment.add'>): void => {
  event.data.comment.text // wrong
  console.log(event.data.comment?.text.length, event.data.metadata.documentId?.length)
}
const wrongName = (event: WeftEvent<'comment.added'>): void => console.log(event) // wrong
const joined: WeftEvent<'presence.join'>['data']['user']['userId'] = 5 // wrong
console.log(added, wrongName, joined)
const webhook: WebhookEvent = await verifyWebhook('{}', {}, 'whsec_x')
if (webhook.event === 'document.create') webhook.data.documentId.length // wrong
if ('test' in webhook.data) console.log(webhook.data.endpointId.length)
else if (webhook.event === 'document.create') console.log(webhook.data.documentId.length)
else if (webhook.event === 'comment.add') {
  const comment = webhook.data.comment
  comment?.text.length // wrong
  webhook.data.annotation?.suggestion?.content?.length // wrong
  comment?.reactions[0]?.reaction.length // wrong
  console.log(comment?.commentId.length, comment?.text?.length, comment?.reactions[0]?.user.userId.length)
} else if (webhook.event === 'crdt.update_data') console.log(webhook.data.editorId.length)
const code: CrdtUpdateErrorCode = 'crdt/version-conflict'
console.log(code)
`

it('[PCLI-17] correct calls compile, and calls with wrong names, types or codes do not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-types-'))
  try {
    writeFileSync(join(folder, 'program.ts'), program)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'src/client/tsconfig.json'),
        compilerOptions: { rootDir: '/' },
        include: ['program.ts'],
      }),
    )
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
    })
    const wrong = program.split('\n').flatMap((line, index) => (line.endsWith('// wrong') ? [index + 1] : []))
    const reported = [...stdout.matchAll(/^.*\((\d+),\d+\): error/gm)].map(([, line]) => Number(line))
    expect([...new Set(reported)], stdout).toEqual(wrong)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
