import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from './ending.ts'

/** Creates a temporary directory. It is removed when this process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
  // Retries, because a server that was just killed may still be writing.
  atEnd(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

export async function ready(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 2_000; attempt++) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const response = await fetch(`${url}/readyz`).catch(() => null)
    if (response?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('the server did not become ready')
}
