/**
 * The servers that a URL names: `postgres://user@a:5432,b:5433/database` is two, as libpq has it. One URL each, in that
 * order; with one server it is the URL itself.
 */
export function postgresUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}
