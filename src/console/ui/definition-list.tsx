import type { ComponentChildren } from 'preact'

/** Names with what they are; what is null is left out. */
export const DefinitionList = ({
  of,
}: {
  readonly of: readonly (readonly [string, ComponentChildren])[]
}) => (
  <dl class="facts">
    {of
      .filter(([, what]) => what !== null && what !== '')
      .map(([name, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{what}</dd>
        </div>
      ))}
  </dl>
)
