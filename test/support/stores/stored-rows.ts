import type { PostgresServer } from '../servers/postgres.ts'

/**
 * Returns the rows of all tables of a schema with a column that contains one of `texts`, each as the name of its
 * table and the printable characters of its columns.
 */
export async function rowsHolding(
  postgres: PostgresServer,
  schema: string,
  texts: readonly string[],
): Promise<readonly string[]> {
  const tables = await postgres.sql(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = '${schema}'::regnamespace`,
  )
  const found: string[] = []
  for (const name of tables.map((table) => String(table.name)))
    for (const row of await postgres.sql(`select * from ${schema}.${name}`)) {
      const columns = Object.values(row).map((value) =>
        Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value),
      )
      if (texts.some((text) => columns.some((column) => column.includes(text))))
        found.push([name, ...columns].join(' ').replaceAll(/[^!-~]+/g, ' '))
    }
  return found
}
