import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { type Running, startCli } from './cli.ts'
import { eventually, openEditor } from './clients.ts'
import { headers, type ServerProcess } from './process.ts'

/** A folder that goes with its test. */
export async function folder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'weft-mirror-'))
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Somebody who edits a document at an old server that speaks y-websocket. */
export function visitor(url: string, name: string) {
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(url, name, doc, {
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
    maxBackoffTime: 200,
  })
  const close = (): void => {
    provider.destroy()
    doc.destroy()
  }
  return { doc, text: doc.getText('content'), provider, close }
}

/** Starts `weft import live` for documents of these names. */
export async function startMirror(
  at: string,
  from: string,
  to: string,
  names: readonly string[],
  more: readonly string[] = [],
): Promise<Running> {
  await writeFile(join(at, 'names'), names.map((name) => `${name}\n`).join(''))
  const args = ['import', 'live', from, '--documents', 'names', '--to', to, '--check', '1', '--json', ...more]
  return startCli(args, at, {
    WEFT_API_KEY: headers['x-service-api-key'],
    WEFT_AUTH_TOKEN: headers['x-service-auth-token'],
  })
}

/** Waits until Weft has what is in `doc`, exactly: the same bytes of state vector, and the same content. */
export async function sameInWeft(weft: ServerProcess, path: string, doc: Y.Doc): Promise<void> {
  const editor = openEditor(weft.wsUrl, path, await weft.token())
  try {
    await eventually(
      () => Buffer.from(stateOf(editor.doc)).equals(stateOf(doc)),
      () => [editor.text.toJSON().slice(-100), doc.getText('content').toJSON().slice(-100)],
      20_000,
    )
  } finally {
    editor.close()
  }
}

/** State vector and content, as bytes. */
export function stateOf(doc: Y.Doc): Buffer {
  const content = Object.fromEntries(
    ['content', 'list', 'map'].map((name) => [name, doc.share.has(name) ? contentOf(doc, name) : null]),
  )
  return Buffer.concat([Y.encodeStateVector(doc), Buffer.from(JSON.stringify(content))])
}

function contentOf(doc: Y.Doc, name: string): unknown {
  if (name === 'list') return doc.getArray(name).toJSON()
  return name === 'map' ? doc.getMap(name).toJSON() : doc.getText(name).toJSON()
}

/** The lines of JSON that a command has printed. */
export const linesOf = (out: string): Readonly<Record<string, unknown>>[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

/** Types, and deletes now and then, until told to stop. */
export function keepTyping({ doc, text }: { readonly doc: Y.Doc; readonly text: Y.Text }): () => void {
  let strokes = 0
  const timer = setInterval(() => {
    strokes += 1
    if (strokes % 7 === 0 && text.length > 3) return text.delete(strokes % (text.length - 2), 2)
    if (strokes % 11 === 0) doc.getMap('map').set(`at${strokes % 5}`, strokes)
    text.insert((strokes * 31) % (text.length + 1), `${strokes} `)
  }, 5)
  return () => clearInterval(timer)
}
