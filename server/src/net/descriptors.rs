//! File descriptors: each connection takes one. Callers must not take those that the database and the line to the gateway need.

use std::fs;

/// What everything but callers needs: requests to the gateway and to the shop, the database's files, listeners.
const KEPT: usize = 256;

/// How many connections may be open, of those that the settings allow.
pub(super) fn max_connections(wanted: usize) -> usize {
    let Some(allowed) = fs::read_to_string("/proc/self/limits").ok().and_then(|limits| allowed(&limits)) else {
        return wanted;
    };
    let most = wanted.min(for_callers(allowed));
    if most < wanted {
        tracing::warn!(
            target: "kassa_server",
            most, wanted, files = allowed,
            "fewer connections than set are accepted, as the process may open so few files: raise LimitNOFILE, or ulimit -n"
        );
    }
    most
}

fn for_callers(allowed: usize) -> usize {
    allowed.saturating_sub(KEPT).max(allowed / 2)
}

/// As Linux tells it; nothing where there is no limit.
fn allowed(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_allows_is_read() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             127234               127234               processes \n\
            Max open files            1024                 524288               files     \n";
        assert_eq!(allowed(limits), Some(1024));
        assert_eq!(allowed(&limits.replace("1024 ", "unlimited ")), None);
        assert_eq!(allowed(""), None);
    }

    #[test]
    fn database_and_gateway_keep_theirs() {
        assert_eq!((for_callers(1024), for_callers(65_536)), (768, 65_280));
        assert_eq!(for_callers(100), 50, "where there is too little for both, both get a part");
    }
}
