import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readConfig } from '../../../src/core/config/read-config.ts'

const configOf = (environment: Readonly<Record<string, string>>) =>
  readConfig({ flags: {}, environment, file: null }).config

it('[OTEL-13] reads the standard variables, unless the variables of Weft are set', () => {
  expect(
    configOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc,x-scope=docs',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_SERVICE_NAME: 'docs',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      WEFT_TRACES_SERVICE_NAME: 'documents',
    }),
  ).toMatchObject({
    otlpEndpoint: 'http://collector:4318',
    otlpHeaders: 'authorization=Basic%20abc,x-scope=docs',
    otlpProtocol: 'http/json',
    tracesServiceName: 'documents',
    tracesSamplerArg: 0.25,
  })
  expect(configOf({})).toMatchObject({ otlpEndpoint: null, tracesSamplerArg: 1 })
})

it.each([
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'no-value' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'a=%0d%0ab' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { OTEL_TRACES_SAMPLER_ARG: '1.5' },
])('[OTEL-13] rejects %j and names the variable', (environment) => {
  expect(() => configOf(environment)).toThrow(Object.keys(environment)[0])
})

it('[OTEL-11] only the modules of the exporter import its packages, and they are loaded on demand', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  )
  const importing = (pattern: RegExp): string[] =>
    files.filter((file) => pattern.test(readFileSync(join('src', file), 'utf8'))).toSorted()
  const exporter = ['core/tracing/otlp-spans.ts', 'core/tracing/span-queue.ts']
  expect(importing(/(?:from|import\() ?'@opentelemetry\//)).toEqual(exporter)
  expect(importing(/from '[./\w-]*\/(?:sampler|span-queue)\.ts'/)).toEqual(['core/tracing/otlp-spans.ts'])
  expect(importing(/from '[./\w-]*\/otlp-spans\.ts'/)).toEqual([])
  expect(importing(/await import\('[./\w-]*\/otlp-spans\.ts'\)/)).toEqual(['core/tracing/open-spans.ts'])
})
