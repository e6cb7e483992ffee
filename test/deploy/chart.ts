import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { GoTemplates } from './go-template.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

/** Folder of the chart. */
export const chartFolder = join(import.meta.dirname, '../../examples/deploy/helm/weft')
const read = (name: string): string => readFileSync(join(chartFolder, name), 'utf8')

export const chart = parse(read('Chart.yaml')) as { name: string; version: string; appVersion: string }
export const defaultValues = parse(read('values.yaml')) as JsonObject
export const valuesSchema = JSON.parse(read('values.schema.json')) as JsonObject

const names = readdirSync(join(chartFolder, 'templates'))
const templates = new GoTemplates(new Map(names.map((name) => [name, read(join('templates', name))])))

const isMap = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the values with changes, as `helm install --values` merges them: maps by member, the rest as a whole. */
export function withValues(base: JsonObject, changes: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...base }
  for (const [name, value] of Object.entries(changes)) {
    const before = base[name]
    merged[name] = isMap(before) && isMap(value) ? withValues(before, value) : value
  }
  return merged
}

/** An object of Kubernetes that the chart has rendered. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: JsonObject
}

/** Renders the chart with changes to its default values. @throws Error for YAML that is not valid */
export function renderChart(changes: JsonObject, release = 'weft'): Manifest[] {
  const data = {
    Values: withValues(defaultValues, changes),
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: release, Namespace: 'docs', Service: 'Helm' },
  }
  const files = names.filter((name) => name.endsWith('.yaml'))
  return files
    .flatMap((name) => parseAllDocuments(templates.render(name, data)))
    .flatMap((document) => {
      if (!('errors' in document)) return []
      const [problem] = [...document.errors, ...document.warnings]
      if (problem !== undefined) throw problem
      const value = document.toJS() as Manifest | null
      return value === null ? [] : [value]
    })
}
