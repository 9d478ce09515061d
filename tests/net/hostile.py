"""The addresses that nobody's choice may lead to, and the spellings that hide them: one table for every filter."""

NOT_PUBLIC = (
    # IPv4: this machine, its networks, and every other block of IANA's registry
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9"),
    *("169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.1"),
    *("192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.192", "192.0.2.1", "192.31.196.1"),
    *("192.52.193.1", "192.88.99.1", "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    # where clouds keep secrets
    *("168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42"),
    # IPv6: every other block of IANA's registry, and what no global unicast address is given out of
    *("::", "::1", "100::1", "100:0:0:1::1", "64:ff9b:1::1", "64:ff9b:1::808:808", "2001::1", "2001:1::1", "2001:2::1"),
    *("2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:db8::1", "2620:4f:8000::1"),
    *("3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "6000::1", "8000::1", "a000::1", "c000::1", "e000::1"),
    *("f000::1", "fc00::1", "fdff::1", "fe00::1", "fe80::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1", "200::1"),
    # IPv4 inside IPv6: mapped, translated, compatible, NAT64, 6to4, Teredo
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a9fe:a9fe", "::ffff:10.0.0.1", "::ffff:168.63.129.16"),
    *("::ffff:0:7f00:1", "::ffff:0:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b::a00:1", "64:ff9b::6464:64c8", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1"),
    *("2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:0:808:808::1"),
    # scopes, and what is no address at all
    *("fe80::1%eth0", "fe80::1%1", "2606:4700::1111%eth0", "::1%lo", "", "localhost", "127.1", "2130706433"),
    *("0x7f.1", "0177.0.0.1", "127.0.0.01", "127.0.0.1 ", "8.8.8.8\n", "1.1.1.1/32", "not an address"),
)
"""What a name may resolve to, and still must not be connected to."""

PUBLIC = (
    *("93.184.215.14", "8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808", "::ffff:8.8.8.8"),
)

NEVER = (
    *("0.0.0.0", "169.254.169.254", "168.63.129.16", "100.100.100.200", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("192.0.0.192", "::", "fe80::1", "fec0::1", "ff02::1", "fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "::1%lo"),
    *("::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "::127.0.0.1", "64:ff9b:1::7f00:1"),
)
"""What must not be reached even where private networks may be."""

HIDDEN_HOSTS = (
    *("2130706433", "017700000001", "0x7f000001", "0x7f.1", "127.1", "127.0.1", "0177.0.0.1", "127.0.0.01", "0", "0x"),
    *(
        "0x7f.0.0.0x1",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "[fe80::1%25lo]",
        "[::1%25lo]",
        "[::1",
        "127.0.0.1.",
    ),
)
"""Hosts that some resolver reads as an address of this machine, and that no filter may leave to a resolver."""

MISSPELT = (
    *("ftp://a.example/", "file:///etc/passwd", "gopher://a.example/", "javascript:alert(1)", "data:,x", "a.example"),
    *("//", "http://", "https:///", "http://u:word@a.example/", "http://u@a.example/", "http://a.example:0/"),
    *("http://a.example:99999/", "http://a.example:-1/", "http://a.example:x/", "http://a\\b/", "http://a b/"),
    *("http://a.example\\@b.example/", "http://a.example/\r\nX: y", "http://a.example\t/", "http://a..example/"),
    *("http://.a.example/", "http://a.example/" + "x" * 4096, "http://a%2eb/", ""),
)
"""Addresses that are refused by their spelling, before any name is resolved."""
