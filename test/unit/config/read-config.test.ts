import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { environmentOf, flagOf, isSecret, optionKeys, optionOf } from '../../../src/core/config/config.ts'
import { unlimited } from '../../../src/core/config/option-parsers.ts'
import { ConfigError, configOfValues, readConfig } from '../../../src/core/config/read-config.ts'
import { configAsJson, renderConfig, renderMarkdown } from '../../../src/core/config/render-config.ts'
import { checkVariables, injectedVariables } from '../../../src/core/config/variables.ts'

const directory = mkdtempSync(join(tmpdir(), 'weft-config-'))
let files = 0

function file(content: string): string {
  files += 1
  const path = join(directory, `${files}.json`)
  writeFileSync(path, content)
  return path
}

const emptyFile = file('{}')
const read = (
  given: { flags?: Record<string, string>; environment?: Record<string, string>; file?: string } = {},
) => readConfig({ flags: {}, environment: {}, file: emptyFile, ...given })

it('[CFG-1] prefers a flag to a variable, a variable to the file, and the file to the default', () => {
  const flags = { port: '1' }
  const environment = { WEFT_PORT: '2' }
  const fromFile = file('{"port": 3}')
  expect(read({ flags, environment, file: fromFile })).toMatchObject({
    config: { port: 1 },
    sources: { port: 'flag' },
  })
  expect(read({ environment, file: fromFile })).toMatchObject({
    config: { port: 2 },
    sources: { port: 'environment' },
  })
  expect(read({ file: fromFile })).toMatchObject({ config: { port: 3 }, sources: { port: 'file' } })
  expect(read()).toMatchObject({ config: { port: 8787 }, sources: { port: 'default' } })
})

it('[CFG-1] reads PORT if WEFT_PORT is not set, and treats an empty variable as not set', () => {
  expect(read({ environment: { PORT: '81' } }).config.port).toBe(81)
  expect(read({ environment: { PORT: '81', WEFT_PORT: '82' } }).config.port).toBe(82)
  expect(read({ environment: { PORT: '', WEFT_PORT: '' } }).config.port).toBe(8787)
})

it.each([
  ['streamBytes', 4 * 2 ** 20, 'WEFT_STREAM_BYTES'],
  ['maxResponseBytes', 32 * 2 ** 20, 'WEFT_MAX_RESPONSE_BYTES'],
  ['sendBufferBytes', 2 ** 20, 'WEFT_SEND_BUFFER_BYTES'],
  ['presenceLeaveDelaySeconds', 10, 'WEFT_PRESENCE_LEAVE_DELAY_SECONDS'],
  ['streamSeconds', 900, 'WEFT_STREAM_SECONDS'],
  ['compactAfterUpdates', 500, 'WEFT_COMPACT_AFTER_UPDATES'],
  ['threadJobSeconds', 20, 'WEFT_THREAD_JOB_SECONDS'],
  ['webhookLogRetentionDays', 30, 'WEFT_WEBHOOK_LOG_RETENTION_DAYS'],
])(
  '[CFG-17] names the option %s of earlier versions as removed, with its value %d',
  (key, value, variable) => {
    const note = `removed, its value is always ${value}; see CHANGELOG.md`
    expect(() => read({ file: file(`{"${key}": 1}`) })).toThrow(note)
    expect(() => configOfValues({ [key]: 1 })).toThrow(note)
    expect(() => checkVariables({ [variable]: '1' })).toThrow(note)
  },
)

it('[CFG-17] names removed options without a value, and lists them with unknown ones', () => {
  for (const key of ['createMissing', 'jwtApiKey', 'logFormat', 'tracesSampler'])
    expect(() => configOfValues({ [key]: '' })).toThrow('(removed; see CHANGELOG.md)')
  const unknown = { WEFT_STREAM_RESUME_SECONDS: '1', WEFT_PROT: '1' }
  expect(() => checkVariables(unknown)).toThrow(
    /WEFT_STREAM_RESUME_SECONDS \(removed; see CHANGELOG\.md\), WEFT_PROT.*WEFT_PORT/,
  )
})

it('[CFG-2] has the documented defaults', () => {
  const { config } = read()
  expect(config).toMatchObject({
    host: '127.0.0.1',
    dataDir: resolve('data'),
    engine: 'level',
    durability: 'disk',
    auth: 'required',
    maxBodyBytes: 16 * 2 ** 20,
    maxMessageBytes: 16 * 2 ** 20,
    maxDocumentBytes: 64 * 2 ** 20,
    sendBufferBytes: 2 ** 20,
    createOnConnect: true,
    callsPerKey: { perSecond: 400, burst: 10_000 },
    maxConnectionsPerWorkspace: 10_000,
    maxUnauthenticatedPerAddress: 2000,
    maxConnectionsPerAddress: 5000,
    connectsPerAddress: { perSecond: 200, burst: 5000 },
    maxDocumentsPerWorkspace: 10_000,
    maxStoredBytesPerWorkspace: 0,
    receiveBytesPerWorkspace: { perSecond: 32 * 2 ** 20, burst: 256 * 2 ** 20 },
    callsPerAddress: { perSecond: 1000, burst: 2000 },
    bodyBytesPerKey: { perSecond: 32 * 2 ** 20, burst: 256 * 2 ** 20 },
  })
})

it.each([
  ['WEFT_PORT', '80a', /WEFT_PORT is "80a"; expected a whole number from 0 to 65535/],
  ['WEFT_PORT', '65536', /expected a whole number from 0 to 65535/],
  ['WEFT_PORT', '-1', /WEFT_PORT/],
  ['WEFT_PORT', '0x50', /WEFT_PORT/],
  ['WEFT_ENGINE', 'constructor', /WEFT_ENGINE is "constructor"; expected "level" or "memory"/],
  ['WEFT_CREATE_ON_CONNECT', 'yes', /expected "true" or "false"/],
  ['WEFT_HOST', '300.1.1.1', /WEFT_HOST is "300.1.1.1"/],
  ['WEFT_API_KEY', 'with space', /WEFT_API_KEY/],
  ['WEFT_AUTH_TOKEN', 'short', /WEFT_AUTH_TOKEN/],
])('[CFG-3] rejects %s=%s with the name, the value and the expected values', (name, value, message) => {
  expect(() => read({ environment: { [name]: value } })).toThrow(ConfigError)
  expect(() => read({ environment: { [name]: value } })).toThrow(message)
})

it.each([
  ['400:10000', { perSecond: 400, burst: 10_000 }, '400:10000'],
  ['5:1', { perSecond: 5, burst: 1 }, '5:1'],
  ['800', { perSecond: 800, burst: 20_000 }, '800:20000'],
  ['1000000', { perSecond: 1_000_000, burst: 1_000_000 }, '1000000:1000000'],
  ['0', unlimited, '0'],
])('[CFG-14] reads the rate %s, and prints it in a form that can be read again', (text, value, printed) => {
  const given = read({ environment: { WEFT_CALLS_PER_KEY: text } })
  expect(given.config.callsPerKey).toEqual(value)
  expect(renderConfig(given)).toMatch(new RegExp(`^callsPerKey +"${printed}" +\\(environment\\)$`, 'm'))
  expect(configAsJson(given).callsPerKey).toEqual({ value: printed, source: 'environment' })
  expect(read({ flags: { callsPerKey: printed } }).config.callsPerKey).toEqual(value)
  expect(read({ file: file(JSON.stringify({ callsPerKey: printed })) }).config.callsPerKey).toEqual(value)
})

it('[CFG-14] reads a number in the configuration file as a rate without a burst', () => {
  const fromFile = file('{"callsPerAddress": 50}')
  expect(read({ file: fromFile }).config.callsPerAddress).toEqual({ perSecond: 50, burst: 100 })
})

it.each(['', '-1', '400/s', '400:', ':400', '400:0', '0:400', '1000001', '400:1000001', '400:1:1', '1e3'])(
  '[CFG-14] rejects the rate "%s", and shows an example',
  (text) => {
    const expected =
      'expected a rate per second, or rate:burst such as 400:10000, each at most 1000000 (0: unlimited)'
    expect(() => read({ flags: { callsPerKey: text } })).toThrow(
      `--calls-per-key is ${JSON.stringify(text)}; ${expected}`,
    )
  },
)

it('[CFG-3] reports an invalid flag as a flag, and an invalid member of the file as a member', () => {
  expect(() => read({ flags: { maxBodyBytes: '1' } })).toThrow('--max-body-bytes is "1"')
  expect(() => read({ file: file('{"port": "x"}') })).toThrow('"port" in the configuration file is "x"')
  expect(() => read({ file: file('{"port": [1]}') })).toThrow('"port" in the configuration file')
  expect(() => read({ file: file('{"prot": 1}') })).toThrow(
    'unknown option "prot" in the configuration file (did you mean port?)',
  )
  expect(() => read({ file: file('{') })).toThrow('is not a JSON object: line 1, column 2')
  expect(() => read({ file: file('[]') })).toThrow('is not a JSON object: the value must be object')
  expect(() => read({ file: join(directory, 'absent.json') })).toThrow('does not exist')
})

it('[CFG-4] reads a secret from a file, never prints it, and has no flag for it', () => {
  const secret = 'a-secret-that-is-long-enough-for-signing'
  const environment = { WEFT_JWT_SECRET_FILE: file(`${secret}\n`) }
  const given = read({ environment })
  expect(given.config.jwtSecret).toBe(secret)
  expect(renderConfig(given)).not.toContain(secret)
  expect(JSON.stringify(configAsJson(given))).not.toContain(secret)
  expect(flagOf('jwtSecret')).toBeNull()
  expect(() => read({ environment: { ...environment, WEFT_JWT_SECRET: secret } })).toThrow('are both set')
  expect(() => read({ environment: { WEFT_JWT_SECRET_FILE: '/absent' } })).toThrow('WEFT_JWT_SECRET_FILE')
  const short = () => read({ environment: { WEFT_JWT_SECRET: 'short-secret' } })
  expect(short).toThrow('expected at least 32 bytes')
  expect(short).not.toThrow('short-secret')
})

it.each(['0.0.0.0', '::', '192.168.1.1', 'example.com', '127.0.0.1.example.com'])(
  '[CFG-5] without authentication, rejects the host %s',
  (host) => {
    const environment = { WEFT_AUTH: 'none', WEFT_HOST: host }
    expect(() => read({ environment })).toThrow(/expected a loopback address/)
  },
)

it('[CFG-5] without authentication, uses a loopback host by default, and accepts loopback hosts', () => {
  expect(read({ environment: { WEFT_AUTH: 'none' } }).config.host).toBe('127.0.0.1')
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost'])
    expect(read({ environment: { WEFT_AUTH: 'none', WEFT_HOST: host } }).config.host).toBe(host)
})

it('[GUIDE-3] lists every option in the table, with flag, variables, default and meaning', () => {
  const table = renderMarkdown()
  for (const key of optionKeys) {
    expect(table).toContain(`\`${environmentOf(key)}\``)
    expect(table).toContain(optionOf(key).description)
    if (isSecret(key)) expect(table).toContain(`\`${environmentOf(key)}_FILE\``)
    else expect(table).toContain(`\`${flagOf(key)}\``)
  }
  expect(environmentOf('maxConnectionsPerAddress')).toBe('WEFT_MAX_CONNECTIONS_PER_ADDRESS')
  expect(flagOf('maxConnectionsPerAddress')).toBe('--max-connections-per-address')
})

it('[CFG-7] rejects unknown variables by name, and suggests the intended variable for each', () => {
  const environment = {
    WEFT_DATA: '/secret/place',
    WEFT_PROT: '1',
    WEFT_API_KEY_FILE: 'x',
    weft_host: 'x',
    WEFT_ZZZ: '',
  }
  expect(() => checkVariables(environment)).toThrow(ConfigError)
  expect(() => checkVariables(environment)).toThrow(
    /^Weft does not know the variables WEFT_DATA \(did you mean WEFT_DATA_DIR\?\), WEFT_PROT \(did you mean WEFT_PORT\?\), WEFT_API_KEY_FILE \(did you mean WEFT_API_KEY\?\), weft_host \(did you mean WEFT_HOST\?\), WEFT_ZZZ$/,
  )
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`WEFT_ZZZ_${index}`, 'x']))
  expect(() => checkVariables(many)).toThrow(/ WEFT_ZZZ_9 and 2 more$/)
})

it('[CFG-7] accepts every variable of the table, and the variables that are not options', () => {
  for (const key of optionKeys) {
    const name = environmentOf(key)
    checkVariables({ [name]: 'x', ...(isSecret(key) && { [`${name}_FILE`]: 'x' }) })
  }
  checkVariables({ WEFT_CONFIG: 'x', WEFT_URL: 'x', WEFT_TEST_LONG: '1', OTHER: 'x', WEFTY: 'x' })
})

it('[CFG-9] ignores variables that an orchestrator injects', () => {
  const injected = {
    WEFT_PORT: 'tcp://10.0.0.1:8787',
    WEFT_SERVICE_HOST: '10.0.0.1',
    WEFT_SERVICE_PORT: '8787',
    WEFT_SERVICE_PORT_HTTP: '8787',
    WEFT_PORT_8787_TCP: 'tcp://10.0.0.1:8787',
    WEFT_PORT_8787_TCP_PROTO: 'tcp',
    WEFT_PORT_8787_TCP_PORT: '8787',
    WEFT_PORT_8787_TCP_ADDR: '10.0.0.1',
    WEFT_NODES_SERVICE_HOST: '10.0.0.2',
    WEFT_NODES_PORT: 'udp://10.0.0.2:1',
  }
  checkVariables({ ...injected, WEFT_HOST: 'x' })
  expect(injectedVariables({ ...injected, WEFT_HOST: 'x', PORT: '1' })).toEqual(Object.keys(injected))
  expect(read({ environment: { ...injected, PORT: '81' } })).toMatchObject({
    config: { port: 81 },
    sources: { port: 'environment' },
  })
  expect(() => checkVariables({ WEFT_NODES_PORT: '1' })).toThrow('WEFT_NODES_PORT')
})

it('[BKP-94] rejects options of backups that are invalid or do not belong together, without showing the key', () => {
  const key = 'ab'.repeat(32)
  const base = { WEFT_BACKUP_TO: 's3://bucket/weft', WEFT_BACKUP_KEY: key }
  expect(read({ environment: base }).config).toMatchObject({
    backupTo: 's3://bucket/weft',
    backupKey: key,
    backupEvery: '24h',
    backupKeep: '7d,4w,12m',
  })
  const keyFile = file(`${key}\n`)
  const fromKeyFile = { WEFT_BACKUP_TO: './backups', WEFT_BACKUP_KEY_FILE: keyFile }
  expect(read({ environment: fromKeyFile }).config.backupKey).toBe(key)
  const rejected = (changes: Record<string, string>): string => {
    try {
      read({ environment: { ...base, ...changes } })
    } catch (error) {
      if (error instanceof ConfigError) return error.message
    }
    return 'accepted'
  }
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ WEFT_BACKUP_KEY: '' }, 'WEFT_BACKUP_TO is set; expected WEFT_BACKUP_KEY too'],
    [{ WEFT_BACKUP_TO: '' }, 'WEFT_BACKUP_KEY is set; expected WEFT_BACKUP_TO too'],
    [
      { WEFT_BACKUP_KEY: key.slice(1) },
      'WEFT_BACKUP_KEY has a value that cannot be used; expected 64 hexadecimal',
    ],
    [
      { WEFT_BACKUP_TO: 'ftp://host/x' },
      'WEFT_BACKUP_TO is "ftp://host/x"; expected the path of a folder, or s3://',
    ],
    [{ WEFT_BACKUP_EVERY: '24' }, 'WEFT_BACKUP_EVERY is "24"; expected minutes, hours or days'],
    [{ WEFT_BACKUP_EVERY: '367d' }, 'at most 366d'],
    [{ WEFT_BACKUP_KEEP: '7d,7d' }, 'WEFT_BACKUP_KEEP is "7d,7d"; expected numbers of days'],
    [{ WEFT_ENGINE: 'memory' }, 'expected "level" or "postgres", because this engine stores nothing'],
  ]
  for (const [changes, message] of cases) {
    expect(rejected(changes)).toContain(message)
    expect(rejected(changes)).not.toContain(key.slice(1))
  }
})
