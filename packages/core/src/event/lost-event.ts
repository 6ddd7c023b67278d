/**
 * Type of the ignorable event that stands for one that is lost. It says nothing of what was lost, but that something was:
 * so no call that was asked for before it may be taken for one that was never begun.
 */
export const LOST_EVENT_TYPE = 'session-persistence/lost'
