import { openDeepSeekHarness } from './deepseek-harness.ts'
import { openLangGraph } from './langgraph.ts'
import type { OpenPeer, PeerName } from './peer.ts'

export const OPEN_PEER: { readonly [name in PeerName]: OpenPeer } = {
  'D jsonl': openDeepSeekHarness('none'),
  'D zstd': openDeepSeekHarness('zstd'),
  langgraph: openLangGraph,
}
