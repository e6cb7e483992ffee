import { href } from '../routing/route.ts'
import { Tabs } from '../ui/controls.tsx'

const [live, presence, token] = [href('connections'), href('presence'), href('connections', 'token')]
const addresses = { live, presence, token }

/** Shows links to the pages about connections. */
export const ConnectionTabs = ({ current }: { readonly current: keyof typeof addresses }) => (
  <Tabs
    label="Connections and tokens"
    current={addresses[current]}
    tabs={[
      [live, 'Connected clients'],
      [presence, 'Who is where'],
      [token, 'Token inspector'],
    ]}
  />
)
