import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { runCli } from '../../support/servers/cli.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'

const adminToken = 'an-admin-token-of-the-test'

describe('backups of a server over PostgreSQL', () => {
  let postgres: PostgresServer
  let root: string
  const running = new Set<ServerProcess>()
  beforeAll(async () => {
    postgres = await startPostgres()
    root = await mkdtemp(join(tmpdir(), 'weft-postgres-backup-'))
    await writeFile(join(root, 'token'), adminToken)
  })
  afterAll(async () => {
    for (const server of running) await server.end('SIGKILL')
    await postgres?.remove()
    await rm(root, { recursive: true, force: true, maxRetries: 20 })
  })

  const settings = (schema: string) => ({
    WEFT_ENGINE: 'postgres',
    WEFT_POSTGRES_URL: postgres.url,
    WEFT_POSTGRES_SCHEMA: schema,
    WEFT_ADMIN_TOKEN: adminToken,
  })
  const start = async (data: string, environment: Readonly<Record<string, string>>) => {
    const server = await startProcess(join(root, data), environment)
    running.add(server)
    return server
  }
  const stop = async (server: ServerProcess) => {
    running.delete(server)
    expect(await server.end('SIGTERM')).toBe(0)
  }
  /** The command line, with the data directory `data` of a server over a schema. */
  const weft = (schema: string, data: string, ...args: readonly string[]) =>
    runCli(args, root, { ...settings(schema), WEFT_DATA_DIR: join(root, data) })
  const address = { organizationId: 'acme', documentId: 'pair', editorId: 'main' }
  const pairOf = async (server: ServerProcess): Promise<unknown> => {
    const { data } = await server.post('/v2/crdt/get', { ...address, type: 'map' })
    const [found] = data as readonly { readonly data: unknown }[]
    return found?.data
  }

  const lastBackupOf = async ({ url }: ServerProcess): Promise<number> => {
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })
    const line = /^weft_backup_last_success_timestamp_seconds (\S+)/m.exec(await response.text())
    return Number(line?.[1] ?? Number.NaN)
  }

  it('[BKP-55] [BKP-56] a backup of a running server is one moment of its database, and servers start on the restored schema and directory', async () => {
    const schema = postgres.newSchema()
    const server = await start('data', settings(schema))
    const token = await server.token()
    const ada = await syncedEditor(server.wsUrl, 'acme/typed/main', token)
    const writing = { state: 'on', rounds: 0 }
    const writer = (async () => {
      for (; writing.state === 'on'; writing.rounds++) {
        const data = { first: writing.rounds, second: writing.rounds }
        const { status } = await server.post('/v2/crdt/update', {
          ...address,
          type: 'map',
          data,
          upsert: true,
        })
        expect(status).toBe(200)
        ada.text.insert(ada.text.length, `${writing.rounds} `)
      }
    })()
    await eventually(() => writing.rounds > 5)
    const taken = await weft(schema, 'data', 'backup', server.url, 'weft.backup', '--token-file', 'token')
    expect(taken).toMatchObject({ code: 0 })
    writing.state = 'off'
    await writer
    await eventually(async () => (await lastBackupOf(server)) > 0)
    const offline = await weft(schema, 'data', 'backup', join(root, 'data'), 'stopped.backup')
    expect(offline).toMatchObject({ code: 2, err: expect.stringContaining('in use') })
    ada.close()
    await stop(server)
    const stoppedAt = Date.now() / 1_000
    expect(await weft(schema, 'data', 'backup', join(root, 'data'), 'stopped.backup')).toMatchObject({
      code: 0,
    })

    const other = postgres.newSchema()
    const restored = await weft(other, 'restored', 'restore', 'weft.backup', '--json')
    expect(restored).toMatchObject({ code: 0 })
    expect(JSON.parse(restored.out)).toMatchObject({ ok: true, damaged: [] })
    expect((await weft(other, 'restored', 'restore', 'weft.backup')).err).toContain('is not empty')
    expect(await weft(other, 'embedded', 'restore', 'weft.backup', join(root, 'directory'))).toMatchObject({
      code: 0,
    })
    const servers = [await start('restored', settings(other)), await start('directory', {})]
    for (const again of servers) {
      const pair = (await pairOf(again)) as { readonly first: number; readonly second: number }
      expect(pair.first).toBeGreaterThan(3)
      expect(pair.second).toBe(pair.first)
      // The token was issued before the backup.
      const client = await syncedEditor(again.wsUrl, 'acme/typed/main', token)
      const text = client.text.toString()
      const numbers = text.trim().split(' ').map(Number)
      expect(numbers).toEqual(numbers.map((_, index) => index))
      client.text.insert(0, 'restored: ')
      await eventually(async () => {
        const { data } = await again.post('/v2/crdt/get', { ...address, documentId: 'typed' })
        return JSON.stringify(data).includes('restored: 0')
      })
      client.close()
      await stop(again)
    }

    // The stopped server has not made the last backup of its database.
    const third = await start('third', settings(schema))
    await eventually(async () => (await lastBackupOf(third)) >= stoppedAt)
    await postgres.kill()
    await eventually(async () => (await fetch(`${third.url}/readyz`)).status === 503)
    expect(await lastBackupOf(third)).toBeGreaterThanOrEqual(stoppedAt)
    await postgres.start()
    await eventually(async () => (await fetch(`${third.url}/readyz`)).status === 200)
    await stop(third)
  }, 60_000)

  it('[BKP-20] [BKP-55] `weft backup --to` backs up a running server, and `weft restore` fills an empty schema from the repository', async () => {
    const [schema, other] = [postgres.newSchema(), postgres.newSchema()]
    const server = await start('of-repository', settings(schema))
    const write = (path: string, data: object) =>
      server.post(path, { ...address, documentId: 'kept', type: 'text', ...data })
    expect((await write('/v2/crdt/add', { data: 'first' })).status).toBe(200)
    const removal = { organizationId: 'acme', documentIds: ['removed'] }
    expect((await write('/v2/crdt/add', { documentId: 'removed', data: 'removed' })).status).toBe(200)
    expect((await server.post('/v2/organizations/documents/delete', removal)).status).toBe(200)
    const run = (data: string, from: string, ...args: readonly string[]) =>
      weft(from, data, ...args, '--json')
    expect(await run('of-repository', schema, 'backups', 'key', 'key')).toMatchObject({ code: 0 })
    const key = ['--key-file', 'key']
    const backUp = () =>
      run('elsewhere', schema, 'backup', server.url, '--to', 'repository', ...key, '--token-file', 'token')
    expect(await backUp()).toMatchObject({ code: 0, err: '' })
    expect((await write('/v2/crdt/update', { data: 'second' })).status).toBe(200)
    const backup = await backUp()
    expect(backup).toMatchObject({ code: 0, err: '' })
    expect((await write('/v2/crdt/update', { data: 'after the backup' })).status).toBe(200)
    const { id } = (JSON.parse(backup.out) as { readonly backup: { readonly id: string } }).backup
    const restored = await run('restored-repository', other, 'restore', 'repository', ...key)
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(restored.out)).toMatchObject({ ok: true, damaged: [] })
    expect(await run('third', other, 'restore', 'repository', ...key)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not empty'),
    })
    await stop(server)
    // The database of the stopped server is the source of a third backup.
    const offline = await run(
      'of-repository',
      schema,
      'backup',
      join(root, 'of-repository'),
      '--to',
      'repository',
      ...key,
    )
    expect(offline).toMatchObject({ code: 0, err: '' })
    const again = await start('restored-repository', settings(other))
    const { data } = await again.post('/v2/crdt/get', { ...address, documentId: 'kept' })
    expect(data).toMatchObject([{ data: 'second' }])
    expect(await again.post('/v2/organizations/documents/get', { organizationId: 'acme' })).toMatchObject({
      data: [{ id: 'kept' }],
    })
    await stop(again)
    const listed = JSON.parse(
      (await run('restored-repository', other, 'backups', 'list', 'repository', ...key)).out,
    )
    expect(listed).toMatchObject([{}, { id }, {}])
  }, 60_000)
})
