import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openObjectStore } from '../../../src/capabilities/backups/open-object-store.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { readS3Settings } from '../../../src/core/config/s3-settings.ts'

const secret = 'a-secret-password'
const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' }

it('[BKP-140] rejects the URL of a service with a user or a password, or that is wrong, and does not print it', () => {
  for (const endpoint of [
    `https://user:${secret}@s3.example.com`,
    `https://${secret}@s3.example.com/`,
    `https://:${secret}@s3.example.com`,
    `https://user:${secret}@s3.example.com/path`,
    `https://s3.example.com\\@${secret}`,
    `https://s3.example.com/?token=${secret}`,
    `https://s3.example.com:99999`,
    `ftp://${secret}`,
    secret,
  ])
    for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL']) {
      const read = () => readS3Settings({ ...keys, [name]: endpoint })
      expect(read).toThrow(`${name} is not the URL of a service`)
      expect(read).not.toThrow(secret)
      expect(read).not.toThrow('99999')
    }
})

it('[BKP-140] accepts the URL of a service without credentials', () => {
  for (const endpoint of [
    'https://s3.example.com',
    'http://127.0.0.1:9000',
    'http://[::1]:9000',
    'http://minio_1',
  ])
    expect(readS3Settings({ ...keys, AWS_ENDPOINT_URL_S3: `${endpoint}/` }).endpoint).toBe(endpoint)
})

it('[BKP-140] does not print the URL of a place that it rejects', async () => {
  for (const url of [`s3://user:${secret}@bucket/prefix`, `https://user:${secret}@s3.example.com/bucket`]) {
    const message = await openObjectStore(url, systemClock).then(String, String)
    expect(message).toMatch(/is not the (URL of a bucket|place of a backup repository)/)
    expect(message).not.toContain(secret)
  }
})

it('[BKP-98] reads the credentials from files, and rejects a file that is missing or contradicts its variable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-s3-'))
  const file = (name: string): string => {
    writeFileSync(join(folder, name), `${name}\n`)
    return join(folder, name)
  }
  const files = {
    AWS_ACCESS_KEY_ID_FILE: file('an-id'),
    AWS_SECRET_ACCESS_KEY_FILE: file('a-key'),
    AWS_SESSION_TOKEN_FILE: file('a-token'),
  }
  expect(readS3Settings(files)).toMatchObject({
    accessKeyId: 'an-id',
    secretAccessKey: 'a-key',
    sessionToken: 'a-token',
  })
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) {
    const both = () => readS3Settings({ ...files, [name]: secret })
    expect(both).toThrow(`${name} and ${name}_FILE are both set`)
    expect(both).not.toThrow(secret)
    expect(() => readS3Settings({ ...files, [`${name}_FILE`]: join(folder, 'none') })).toThrow(
      `${name}_FILE cannot be read`,
    )
  }
  rmSync(folder, { recursive: true })
})
