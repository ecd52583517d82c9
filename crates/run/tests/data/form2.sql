-- A ledger of form 2 as a program of that form left it: two tasks, two agents, of which one failed on both, and again when it was resumed.
pragma user_version = 2;
pragma foreign_keys = off;
BEGIN TRANSACTION;
CREATE TABLE link (
        run    integer not null references run,
        place  integer not null,
        number integer not null,
        record text,
        folder text,
        hash   text not null,
        primary key (run, place),
        check ((record is null) = (folder is null))
    ) strict, without rowid;
INSERT INTO "link" VALUES(1,1,1,'c0f7433ee58a8f21ede5fae594d8b5dd74a9b054572db0388d31608fdac102c4','0c33c54b99fe9040036d07a952fbe518794999080d3259cacba33fa4c93c3aa3','c9d75571ec28d2b9b71c3509bbd8d6a5a8e2124f82c478899ef6ef7f12167ee6');
INSERT INTO "link" VALUES(1,2,2,'ee25456b57a8a3d2bf299a2537acb83ad3fc6f37393e990818d888addbcdb7ad','d11f2db1f6ee61b2ae3c565ff13b527faab41732da0726a75ecc6159b7634f8d','d5bf0da06dee11f2aaaa6a2c5ba63f5b3f0a4ed451107ef2093bfda9bd503a5b');
INSERT INTO "link" VALUES(1,3,3,'a65cc9a5dd7845d0510f1c5c9d62ecf763552afa55c33f8375bad3eedfe98cca','ef4637c7465847561b5031578d77f193a384aa547a793811b2206c1c46e27f4e','13ba1799ab5429db091ec97835fbfd2fa068d3c16b0e202fcb4e459a131b6f60');
INSERT INTO "link" VALUES(1,4,4,'67b4e69e7caf05c851749d6c33d47ad055ddd8474d5171f9f7f50b3105e6d664','2129d917da1cf2f359ed10df999e892074d320d65e1f965f72174de8fc655901','e74fab7a5c90cfb14700146ec27d3552ed91e7d3b92fe9276df272dbd1845a91');
INSERT INTO "link" VALUES(1,5,3,NULL,NULL,'4af2a08ff532d6bee947e19dbdfaac1714abef99ba17aa79ad2115e5c9e1cb63');
INSERT INTO "link" VALUES(1,6,4,NULL,NULL,'e57d9f3bc2b368ef8c3a81adcdc41b550cce18eb15b3a4e513962df2701f02a0');
INSERT INTO "link" VALUES(1,7,3,'8b65b615bd8955e87e5fe58b2996eae640856a3449b8b5c32e29cee6541160c2','ef4637c7465847561b5031578d77f193a384aa547a793811b2206c1c46e27f4e','e61eadb6f6a74d6f0fedf11aa607c222889777f78941dc8b61270483a362e896');
INSERT INTO "link" VALUES(1,8,4,'89a3f9e89d4133e9e57f976f0f9a13b44f114809d8c480b6a05d679f1595af93','2129d917da1cf2f359ed10df999e892074d320d65e1f965f72174de8fc655901','424b3dae5a89b2a1b95815d8ae332bdb1b965bb4a439db85d5802df4d2715c95');
CREATE TABLE run (
        id     integer primary key,
        name   text not null,
        digest text not null,
        plan   text not null
    ) strict;
INSERT INTO "run" VALUES(1,'2026-11-17T222414-demo','729a738efa3f723e37efd490c22067bb9eba9e0ee31d40d3bc7eb74df4ab6f78','{"version":1,"tasks":[{"id":"erp-0446ded331","digest":"2bb7232883e5ffed487e187d7b236f4e0c654682b3e2048826cfc9779e64f32a","domain":"erp","pattern":"production/screened-backlog-with-vendor-consolidation","tier":"medium","objective":"vendor_consolidation","cluster":"production/screened-backlog-with-vendor-consolidation","horizon":27,"parameters":{"constraints":146,"rows":433,"rules":37,"variables":86}},{"id":"erp-12a0cd169f","digest":"5c6e5ed491285ea38ca310aa14485155b39b9f8fe60355e2e5cb646687d412e2","domain":"erp","pattern":"recovery/supplier-cancellation-rescue","tier":"easy","objective":"repair_plan","cluster":"recovery/supplier-cancellation-rescue","horizon":11,"parameters":{"constraints":22,"rows":394,"rules":29,"variables":12}}],"agents":["idle","careless"],"attempts":1,"limits":{"turns":400,"seconds":3600,"tokens":null,"cost":null}}');
CREATE TABLE trial (
        run     integer not null references run,
        number  integer not null,
        task    text not null,
        agent   text not null,
        attempt integer not null,
        state   text not null check (state in ('open', 'leased', 'done')),
        fence   integer not null default 0,
        until   integer not null default 0,
        tries   integer not null default 0,
        failed  integer not null default 0,
        record  text,
        primary key (run, number),
        unique (run, task, agent, attempt),
        check ((state = 'done') = (record is not null))
    ) strict, without rowid;
INSERT INTO "trial" VALUES(1,1,'2bb7232883e5ffed487e187d7b236f4e0c654682b3e2048826cfc9779e64f32a','idle',1,'done',1,1794954284861,1,0,'{"key":{"task":"2bb7232883e5ffed487e187d7b236f4e0c654682b3e2048826cfc9779e64f32a","agent":"idle","attempt":1},"end":{"scored":{"pass":false,"reward":0.0,"constraints":0.047619,"trace":0.0,"objective":0.0,"clean":false,"best":true,"side_effect":false,"paper_pass":false,"alarm":false,"failed":{"erp/cover":"supply","erp/customer-limit":"demand","erp/draft-cancelled":"state","erp/draft-confirmed":"state","erp/list-price":"demand","erp/listed-request-entered":"state","erp/one-order-each":"state","erp/order-customer":"demand","erp/order-quantity":"demand","erp/order-value":"demand","erp/promised-day":"demand","erp/total-supply":"supply"},"gates":["activity"],"limit":null}},"used":{"calls":0,"refused":0,"turns":null,"tokens_in":null,"tokens_out":null,"cost":null},"spent":{"wall":26761,"world":26725}}');
INSERT INTO "trial" VALUES(1,2,'5c6e5ed491285ea38ca310aa14485155b39b9f8fe60355e2e5cb646687d412e2','idle',1,'done',1,1794954284866,1,0,'{"key":{"task":"5c6e5ed491285ea38ca310aa14485155b39b9f8fe60355e2e5cb646687d412e2","agent":"idle","attempt":1},"end":{"scored":{"pass":false,"reward":0.0,"constraints":0.951219,"trace":1.0,"objective":0.0,"clean":false,"best":true,"side_effect":false,"paper_pass":false,"alarm":false,"failed":{"erp/broken-documents":"state","erp/eligible-supplier":"supply"},"gates":["activity","erp/broken-documents"],"limit":null}},"used":{"calls":0,"refused":0,"turns":null,"tokens_in":null,"tokens_out":null,"cost":null},"spent":{"wall":32159,"world":31823}}');
INSERT INTO "trial" VALUES(1,3,'2bb7232883e5ffed487e187d7b236f4e0c654682b3e2048826cfc9779e64f32a','careless',1,'done',6,1794954297152,3,1,'{"key":{"task":"2bb7232883e5ffed487e187d7b236f4e0c654682b3e2048826cfc9779e64f32a","agent":"careless","attempt":1},"end":{"error":{"cause":"task","detail":"erp-0446ded331 is no request: careless has nothing to do badly"}},"used":{"calls":0,"refused":0,"turns":null,"tokens_in":null,"tokens_out":null,"cost":null},"spent":{"wall":544,"world":0}}');
INSERT INTO "trial" VALUES(1,4,'5c6e5ed491285ea38ca310aa14485155b39b9f8fe60355e2e5cb646687d412e2','careless',1,'done',6,1794954297153,3,1,'{"key":{"task":"5c6e5ed491285ea38ca310aa14485155b39b9f8fe60355e2e5cb646687d412e2","agent":"careless","attempt":1},"end":{"error":{"cause":"task","detail":"erp-12a0cd169f is no request: careless has nothing to do badly"}},"used":{"calls":0,"refused":0,"turns":null,"tokens_in":null,"tokens_out":null,"cost":null},"spent":{"wall":356,"world":0}}');
CREATE INDEX trial_state on trial (run, state, until);
COMMIT;
